/** A row of an input file: its record, or the error that makes it invalid. */
export interface Row {
  /** Line on which the row starts, from 1. */
  line: number
  record?: Record<string, unknown>
  error?: string
  /** The row as it is in the file; it goes into the file of failed rows. */
  source: Record<string, unknown>
}

/** Columns that the file of failed rows adds. An import ignores them. */
export const FAILED_LINE = 'failed_line'
export const FAILED_REASON = 'failed_reason'

export type Text = AsyncIterable<string>
export type Format = 'csv' | 'ndjson' | 'json'
export const FORMATS: Format[] = ['csv', 'ndjson', 'json']
