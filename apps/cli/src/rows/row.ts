/** A row of an input file: its record as the service takes it, or what is wrong with it. */
export interface Row {
  /** Where it begins in the file, from 1. */
  line: number
  record?: Record<string, unknown>
  fault?: string
  /** As it stood in the file, for the file of failed rows. */
  source: Record<string, unknown>
}

/** What the file of failed rows says beside the row; an import leaves these columns out. */
export const FAILED_LINE = 'failed_line'
export const FAILED_REASON = 'failed_reason'

export type Text = AsyncIterable<string>
export type Format = 'csv' | 'ndjson' | 'json'
export const FORMATS: Format[] = ['csv', 'ndjson', 'json']
