/** A row of a file. */
export interface TableRow {
  /** The line on which the row starts, from 1. */
  line: number
  /** The values by column, without empty ones. */
  values: Record<string, unknown>
  /** Why the row is invalid. */
  error?: string
}
