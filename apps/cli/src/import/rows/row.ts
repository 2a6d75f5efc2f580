/** A row of an input file: its record, or the error that makes it invalid. */
export interface Row {
  /** Line on which the row starts, from 1. */
  line: number
  record?: Record<string, unknown>
  error?: string
  /** The row as it is in the file; it goes into the file of remaining rows. */
  source: Record<string, unknown>
  /** The cells of a CSV row beyond those of the first line. */
  surplus?: string[]
}

export type Text = AsyncIterable<string>
export type Format = 'csv' | 'ndjson' | 'json'
export const FORMATS: Format[] = ['csv', 'ndjson', 'json']
