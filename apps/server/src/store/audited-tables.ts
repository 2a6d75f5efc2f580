import type { AuditedTable as Audited, RecordedChange } from '@resource/database'

/** An audited table, and what the effect of a write needs to know of it. */
export interface AuditedTable extends Audited {
  /** The shown fields that a write sets to the same values whenever it runs: no ids, times and generated values. */
  bound: readonly string[]
  kept: readonly string[]
  /** The resource that a field refers to. */
  references: Readonly<Record<string, string>>
}

/** The audited tables by name. */
export interface AuditedTables {
  readonly [name: PropertyKey]: AuditedTable
}

/** What a write has done, before its transaction ends. */
export interface Effect {
  tables: AuditedTables
  /** In the order of the writes. */
  changes: readonly RecordedChange[]
  /** Of the changes: two writes with the same fingerprint do exactly the same, whenever they run. */
  fingerprint: string
}
