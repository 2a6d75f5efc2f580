import { ApiError, type Path } from '@resource/openapi'
import type { IfVersion } from './refusals.ts'
import type { Values } from './row-mapping.ts'

/** The write of one record, as a caller requests it. `at` is its path in the input; empty for a single write. */
export type RecordWrite = { at: Path } & (
  | { create: Values }
  | { id: number; if_version?: IfVersion; delete: true }
  | Change
)

interface Change {
  id?: number | undefined
  /** A unique field that names the record instead, and its value in the unique column. */
  key?: { field: string; column: string; value: unknown }
  if_version?: IfVersion
  change: Values
  /** Makes it an upsert: the fields of the record to create if there is none. They are validated only then. */
  orCreate?: Values
}

/** The fields that a row sends. */
export function valuesOf(row: RecordWrite | ApiError): Values {
  if (row instanceof ApiError || 'delete' in row) return {}
  return 'create' in row ? row.create : (row.orCreate ?? row.change)
}

/** Whether the record of a row is not known before the transaction. */
export function isLookedUp(row: RecordWrite): boolean {
  return 'change' in row && (row.key !== undefined || row.orCreate !== undefined)
}

/** What is equal for two rows that name the same record. */
export function nameOf(row: RecordWrite): unknown {
  return 'create' in row ? row : (('key' in row ? row.key?.value : row.id) ?? row)
}
