/** The roles of callers. Each role includes the ones before it. */
export const ROLES = ['reader', 'proposer', 'writer', 'admin'] as const

export type Role = (typeof ROLES)[number]
