import { Failure, invalid } from './failures.ts'
import type { Globals } from './globals.ts'
import { jq } from './json-filter.ts'
import { write } from './output.ts'
import { hasWritten, type JsonObject } from './service.ts'
import { details, table } from './table.ts'

type Format = Pick<Globals, 'json' | 'fields' | 'jq'>

/** Prints an answer as JSON or through `--jq`, otherwise as `text`. */
export async function answer(value: unknown, { json, jq: filter }: Format, text: () => string): Promise<void> {
  if (filter !== undefined) return write(await filtered(value, filter))
  await write(json ? `${JSON.stringify(value)}\n` : text())
}

/** @throws Failure with the whole answer if it is of a write, which must not be repeated to see it */
async function filtered(answer: unknown, filter: string): Promise<string> {
  try {
    return await jq(JSON.stringify(answer), filter)
  } catch (error) {
    if (!hasWritten()) throw error
    const message = `The command has succeeded, but its answer cannot be filtered. ${(error as Error).message}`
    throw new Failure('unexpected', message, { answer })
  }
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
