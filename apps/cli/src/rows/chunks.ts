import type { Row } from './row.ts'

// What the service takes at once over tRPC is 4 MiB.
const MOST_CHARACTERS = 1024 * 1024

export interface Chunk {
  /** Rows before it. */
  start: number
  rows: Row[]
}

/** Rows in chunks of `size`, fewer where they are long. The same file always makes the same chunks. */
export async function* chunks(rows: AsyncIterable<Row>, size: number): AsyncGenerator<Chunk> {
  let chunk: Chunk = { start: 0, rows: [] }
  let characters = 0
  for await (const row of rows) {
    chunk.rows.push(row)
    characters += JSON.stringify(row.source).length
    if (chunk.rows.length < size && characters < MOST_CHARACTERS) continue
    yield chunk
    chunk = { start: chunk.start + chunk.rows.length, rows: [] }
    characters = 0
  }
  if (chunk.rows.length > 0) yield chunk
}
