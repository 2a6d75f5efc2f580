// Limits and validation rules shared by the limit's checks and the zod schemas of the peers.

export const MAX_ID = 2 ** 31 - 1
export const MAX_LIMIT = 1000
export const DEFAULT_LIMIT = 100
export const MAX_USERS = 1000
export const MAX_PRICE = 1e12

export const SORTABLE = ['id', 'name', 'email', 'role', 'status', 'age', 'created_at', 'updated_at'] as const

export const EMAIL =
  /^(?=[^@]{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])$/

/** Whether trimmed text has 1 to `max` characters and no NUL or lone surrogate, which databases reject. */
export function isText(value: string, max: number): boolean {
  if (value.length === 0 || value.length > 2 * max) return false
  if (value.length > max && [...value].length > max) return false
  return value.isWellFormed() && !value.includes('\0')
}

/** The form of a text that the service's searches compare, for the ASCII texts of the workloads. */
export function searchKey(value: string): string {
  return value.toLowerCase()
}

export function isPassword(value: string): boolean {
  return [...value].length >= 8 && Buffer.byteLength(value) <= 1024 && value.isWellFormed() && !value.includes('\0')
}
