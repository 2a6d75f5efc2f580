import { Failure } from './failures.ts'
import type { Globals } from './globals.ts'
import { answer } from './print-records.ts'
import { countOf, type JsonObject, type Noun } from './procedures.ts'
import { confirm, isInteractive } from './prompt.ts'
import { cell, table } from './table.ts'
import { tableColumns } from './table-columns.ts'

const SAMPLE = 5

/** Records to change, of which the first ones are shown. */
export interface Shown {
  count: number
  sample: JsonObject[]
}

/** The options of a command that shows what it changes. */
export interface PreviewOptions extends Globals {
  yes: boolean
  dryRun?: boolean
}

export function shown(records: JsonObject[]): Shown {
  return { count: records.length, sample: records.slice(0, SAMPLE) }
}

/**
 * Shows the records and asks; without a terminal, `--yes` is required. With `--dry-run`, or if there are no records, it
 * prints them as the answer instead.
 *
 * @param changesOf the fields of a record that change
 * @returns whether to change them
 * @throws Failure if the answer is no
 */
export async function isConfirmed(
  noun: Noun,
  options: PreviewOptions,
  records: Shown,
  changesOf: (record: JsonObject) => JsonObject,
  question: string,
): Promise<boolean> {
  const { count, sample } = records
  const lines = count === 0 ? '' : preview(noun, records, options.fields, changesOf)
  if (count === 0 || options.dryRun) {
    const matches = `${countOf(noun, count)} ${count === 1 ? 'matches' : 'match'}\n`
    await answer(records, options, () => lines + matches)
    return false
  }
  if (options.yes) return true
  if (!isInteractive()) throw new Failure('invalid', `${lines}${question} Add --yes to confirm.`, { count, sample })
  process.stderr.write(lines)
  if (!(await confirm(question))) throw notConfirmed()
  return true
}

/** The outcome of a question that was answered with no. */
export function notConfirmed(): Failure {
  return new Failure('interrupted', 'Nothing was changed.')
}

/** The records, with `24.5 → 20` where they change. */
function preview(
  noun: Noun,
  { count, sample }: Shown,
  fields: string[] | undefined,
  changesOf: (record: JsonObject) => JsonObject,
): string {
  const known = [...new Set([...tableColumns(noun), ...sample.flatMap((record) => Object.keys(changesOf(record)))])]
  const columns = fields ?? known.filter((name) => sample.some((record) => name in record))
  const changed = (record: JsonObject) =>
    Object.entries(changesOf(record)).flatMap(([name, value]) =>
      name in record && record[name] !== value ? [[name, `${cell(record[name])} → ${cell(value)}`]] : [],
    )
  const rows = sample.map((record) => ({ ...record, ...Object.fromEntries(changed(record)) }))
  return `${table(columns, rows)}${count > sample.length ? `… ${count - sample.length} more\n` : ''}`
}
