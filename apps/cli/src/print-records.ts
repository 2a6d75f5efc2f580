import { invalid } from './failures.ts'
import type { Globals } from './globals.ts'
import { write } from './output.ts'
import type { JsonObject } from './procedures.ts'
import { details, table } from './table.ts'

type Format = Pick<Globals, 'json' | 'fields'>

/** Prints an answer as JSON, otherwise as `text`. */
export async function answer(value: unknown, { json }: Format, text: () => string): Promise<void> {
  await write(json ? `${JSON.stringify(value)}\n` : text())
}

/** Prints one record. */
export async function answerRecord(record: JsonObject, format: Format): Promise<void> {
  const shown = picked(record, format.fields ?? Object.keys(record))
  await answer(shown, format, () => details(shown))
}

/**
 * Prints several records.
 *
 * @param columns those of the table without `--fields`
 * @param inTable changes a record for the table
 */
export async function answerRecords(
  records: JsonObject[],
  columns: string[],
  format: Format,
  inTable: (record: JsonObject) => JsonObject = (record) => record,
): Promise<void> {
  const { fields } = format
  const shown = fields === undefined ? records : records.map((record) => picked(record, fields))
  await answer(shown, format, () => table(fields ?? columns, shown.map(inTable)))
}

/** The named fields of a record, in the order of the names. */
export function picked(record: JsonObject, fields: string[]): JsonObject {
  return Object.fromEntries(fields.map((name) => [name, record[name] ?? null]))
}

/** @throws Failure if `--fields` names a field that the records do not have */
export function checkFields({ fields }: Format, known: string[]): void {
  const unknown = fields?.filter((name) => !known.includes(name)) ?? []
  if (unknown.length > 0) throw invalid(`--fields: unknown: ${unknown.join(', ')}. Known: ${known.join(', ')}`)
}
