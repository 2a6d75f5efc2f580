import type { Row } from './rows.ts'

// The service accepts tRPC bodies of at most 4 MiB, and a character can take 3 bytes in UTF-8.
const MAX_CHARACTERS = 1024 * 1024

export interface Chunk {
  /** Number of rows before the chunk. */
  start: number
  rows: Row[]
}

/** Splits rows into chunks of at most `size`, fewer if the rows are long. The same file always gives the same chunks. */
export async function* chunks(rows: AsyncIterable<Row> | Iterable<Row>, size: number): AsyncGenerator<Chunk> {
  let chunk: Chunk = { start: 0, rows: [] }
  let characters = 0
  for await (const row of rows) {
    chunk.rows.push(row)
    characters += JSON.stringify(row.source).length
    if (chunk.rows.length < size && characters < MAX_CHARACTERS) continue
    yield chunk
    chunk = { start: chunk.start + chunk.rows.length, rows: [] }
    characters = 0
  }
  if (chunk.rows.length > 0) yield chunk
}
