import type { Column, Row } from '../resources/resource.ts'

type Values = Record<string, unknown>

/** A record as a user began with it, as others have stored it since, and as the user wants it. */
export interface Versions {
  opened: Row
  stored: Row
  /** Absent for a deletion. */
  mine: Values | undefined
}

export type Side = 'stored' | 'mine'

/** Who changed a field: both only if their values differ. */
export function changedBy({ opened, stored, mine }: Versions, field: string): Side | 'both' | undefined {
  const isStored = stored[field] !== opened[field]
  const isMine = mine !== undefined && mine[field] !== opened[field]
  if (isStored && isMine) return mine[field] === stored[field] ? 'stored' : 'both'
  return isStored ? 'stored' : isMine ? 'mine' : undefined
}

/** The record with the changes of both, and the chosen value of each field that both changed. */
export function merged(versions: Versions, columns: Column[], sideOf: (field: string) => Side): Values {
  const { stored, mine } = versions
  const own = columns.filter(({ field }) => {
    const by = changedBy(versions, field)
    return by === 'mine' || (by === 'both' && sideOf(field) === 'mine')
  })
  return { ...stored, ...Object.fromEntries(own.map(({ field }) => [field, mine?.[field]])) }
}
