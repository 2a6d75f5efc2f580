import { bytesToHex } from '@noble/hashes/utils.js'
import { IMPORT_ERROR, IMPORT_LINE } from '@resource/contract/import-columns'
import type { FileFormat } from './export.ts'
import type { TableRow } from './table-row.ts'

/** The contents of a file. */
export interface Table {
  name: string
  /** SHA-256 of the file. */
  digest: string
  form: FileFormat
  /** Separator of the cells of a CSV file. */
  separator: string
  columns: string[]
  rows: TableRow[]
}

const MAX_BYTES = 50_000_000

/**
 * Reads a CSV file, a JSON array or JSON lines.
 *
 * @param separator of the cells of a CSV file; without it, the most likely one
 * @throws Error with a message for users if the file has none of these formats
 */
export async function readTable(file: File, separator?: string): Promise<Table> {
  if (file.size > MAX_BYTES) throw new Error('The file is larger than 50 MB: split it, or use the command line')
  const bytes = new Uint8Array(await file.arrayBuffer())
  const text = textOf(bytes)
  const form = /\.(json|ndjson|jsonl)$/i.test(file.name) || /^\s*[[{]/.test(text) ? 'ndjson' : 'csv'
  const { rows, columns, ...csv } = form === 'csv' ? await csvTable(text, separator) : await jsonTable(text)
  if (rows.length === 0) throw new Error('The file contains no rows')
  return {
    name: file.name,
    digest: await digestOf(bytes),
    form,
    separator: csv.separator,
    columns: columns.filter((column) => column !== IMPORT_LINE && column !== IMPORT_ERROR),
    rows,
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Error('The file is not UTF-8: save it as "CSV UTF-8"')
  }
}

async function csvTable(text: string, separator?: string) {
  const { readCsv } = await import('./csv.ts')
  return readCsv(text, separator)
}

async function jsonTable(text: string) {
  const { readJson } = await import('./json.ts')
  const rows = readJson(text)
  return { rows, columns: [...new Set(rows.flatMap(({ values }) => Object.keys(values)))], separator: ',' }
}

// Browsers have crypto.subtle only on secure origins.
async function digestOf(bytes: Uint8Array): Promise<string> {
  const { sha256 } = await import('@noble/hashes/sha2.js')
  return bytesToHex(sha256(bytes))
}
