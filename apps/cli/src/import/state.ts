import type { Format, Layout, Mode, Progress } from '@resource/import'
import type { Globals } from '../globals.ts'
import type { Noun } from '../procedures.ts'
import type { Written } from './remaining-file.ts'

export interface ImportOptions extends Globals {
  type: Noun
  format: Format
  mode: Mode
  /** Of a CSV file. */
  delimiter?: string | undefined
  decimalComma?: boolean | undefined
  /** Fields by column; an empty name for a column that is left out. */
  map?: Record<string, string> | undefined
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
export type GivenOptions = Omit<ImportOptions, 'mode'> & { mode: Mode | undefined }

/** How a file is read. */
export interface FileLayout extends Layout {
  /** Of a CSV file. */
  delimiter: string
}

/** The saved progress of an import. */
export interface ImportState extends Progress {
  command: 'import'
  type: Noun
  url: string
  format: Format
  mode: Mode
  clearEmpty: boolean
  layout: FileLayout
  /** SHA-256 of the file. */
  digest: string
  chunkSize: number
  /** Random secret from which the idempotency keys are derived. */
  importId: string
  failed: number
  /** Bytes of the failed rows in the file of remaining rows. */
  failedBytes: number
  /** That file as the import left it: after a stop it also has the rows that were not sent. */
  remaining: Written
}
