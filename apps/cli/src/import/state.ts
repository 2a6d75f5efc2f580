import type { Globals } from '../globals.ts'
import type { Noun } from '../service.ts'
import type { CsvLayout, LayoutOptions } from './rows/csv-layout.ts'
import type { Written } from './rows/remaining-rows.ts'
import type { Format } from './rows/row.ts'

export interface ImportOptions extends Globals, LayoutOptions {
  type: Noun
  format: Format
  mode: ImportMode
  /** Whether an empty CSV cell clears its field; otherwise it changes nothing. */
  clearEmpty: boolean
  chunkSize: number
  /** How long to wait for an unreachable service, in seconds. */
  wait: number
  restart: boolean
  again: boolean
  yes: boolean
}

/** The options as they were given: the mode may still have to be chosen. */
export type GivenOptions = Omit<ImportOptions, 'mode'> & { mode: ImportMode | undefined }

/** What an import does with a row: `upsert` updates the record that has its key, and creates one if there is none. */
export interface ImportMode {
  action: 'create' | 'update' | 'upsert'
  /** The field that identifies a record. */
  key: string
}

/** The saved progress of an import. */
export interface ImportState {
  command: 'import'
  type: Noun
  url: string
  format: Format
  mode: ImportMode
  clearEmpty: boolean
  /** Of a CSV file. */
  layout: CsvLayout | undefined
  /** SHA-256 of the file. */
  digest: string
  chunkSize: number
  /** Random secret from which the idempotency keys are derived. */
  importId: string
  /** Rows processed so far: imported or failed. */
  rows: number
  created: number
  updated: number
  unchanged: number
  failed: number
  /** Bytes of the failed rows in the file of remaining rows. */
  failedBytes: number
  /** That file as the import left it: after a stop it also has the rows that were not sent. */
  remaining: Written
  /** Whether the chunk after `rows` may be stored; `at` is when it was first sent, `caller` by whom. */
  inFlight: boolean
  at: number
  caller: string
  /** Rows of that chunk that the service rejected: index in the chunk and reason. */
  refused: [number, string][]
}
