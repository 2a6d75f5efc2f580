import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import {
  type Format,
  guessDelimiter,
  IMPORT_COLUMNS,
  isUtf16,
  type SourceRow,
  sourceRows,
  targetOf,
} from '@resource/import'
import type { Resource } from '../resources/resource.ts'

/** The contents of a file. */
export interface Table {
  name: string
  /** SHA-256 of the file. */
  digest: string
  format: Format
  /** Separator of the cells of a CSV file. */
  separator: string
  columns: string[]
  rows: SourceRow[]
}

const MAX_BYTES = 50_000_000
const SAMPLE_CHARACTERS = 256 * 1024

/**
 * Reads a CSV file, a JSON array or JSON lines.
 *
 * @param separator of the cells of a CSV file; without it, the most likely one
 * @throws Error with a message for users if the file has none of these formats
 */
export async function readTable({ noun }: Resource, file: File, separator?: string): Promise<Table> {
  if (file.size > MAX_BYTES) throw new Error('The file is larger than 50 MB: split it, or use the command line')
  const bytes = new Uint8Array(await file.arrayBuffer())
  const text = textOf(bytes)
  const format = formatOf(file.name, text)
  const delimiter = separator ?? guessDelimiter(targetOf(noun), text.slice(0, SAMPLE_CHARACTERS))
  const columns = new Set<string>()
  const rows: SourceRow[] = []
  for await (const row of sourceRows(inOnePart(text), format, delimiter)) {
    rows.push(row)
    if (format === 'csv' || row.errors.length === 0) for (const column of Object.keys(row.source)) columns.add(column)
  }
  if (rows.length === 0) throw new Error('The file contains no rows')
  for (const column of IMPORT_COLUMNS) columns.delete(column)
  // Browsers have crypto.subtle only on secure origins.
  const digest = bytesToHex(sha256(bytes))
  return { name: file.name, digest, format, separator: delimiter, columns: [...columns], rows }
}

function formatOf(name: string, text: string): Format {
  if (/\.(ndjson|jsonl)$/i.test(name)) return 'ndjson'
  return /\.json$/i.test(name) || /^\s*[[{]/.test(text) ? 'json' : 'csv'
}

async function* inOnePart(text: string) {
  yield text
}

function textOf(bytes: Uint8Array): string {
  try {
    if (isUtf16(bytes)) throw new TypeError('UTF-16')
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Error('The file is not UTF-8: save it as "CSV UTF-8"')
  }
}
