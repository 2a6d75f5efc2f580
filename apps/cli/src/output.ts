import { once } from 'node:events'
import { stripVTControlCharacters } from 'node:util'

/** Writes to stdout and waits while its buffer is full. */
export async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** Writes a line to stderr, which keeps stdout free for results. */
export function log(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** A table with aligned columns; numbers are right-aligned. */
export function table(columns: string[], records: Record<string, unknown>[]): string {
  const rows = records.map((record) => columns.map((column) => cell(record[column])))
  const columnWidths = columns.map((column, n) =>
    rows.reduce((width, row) => Math.max(width, (row[n] ?? '').length), column.length),
  )
  const isRight = columns.map((column) => records.some((record) => typeof record[column] === 'number'))
  const line = (cells: string[]) =>
    cells
      .map((text, n) => (isRight[n] ? text.padStart(columnWidths[n] ?? 0) : text.padEnd(columnWidths[n] ?? 0)))
      .join('  ')
      .trimEnd()
  return `${[columns, ...rows].map(line).join('\n')}\n`
}

/** A record as `key: value` lines. */
export function record(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${cell(value)}\n`)
    .join('')
}

// Control characters in stored text could move the cursor or break the table.
function cell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return stripVTControlCharacters(text).replace(/\p{Cc}/gu, ' ')
}
