import type { Client, Output } from '@resource/client'
import { Failure } from './failures.ts'
import type { Globals } from './globals.ts'
import { answer } from './print-records.ts'
import { countOf, type JsonObject, type Noun } from './procedures.ts'
import { confirm, isInteractive } from './prompt.ts'
import { cell, table } from './table.ts'
import { tableColumns } from './table-columns.ts'

const SAMPLE = 5
/** The fields that change with every change. */
const ASSIGNED = ['version', 'updated_at']

/** A call that writes. */
export interface Write {
  client: Client
  noun: Noun
  verb: string
  input: JsonObject
}

/** The options of a command that can show what it would do. */
export interface PreviewOptions extends Globals {
  preview?: boolean
}

type Preview = Output<'previews', 'create'>

function previewOf({ client, noun, verb, input }: Write): Promise<Preview> {
  return client.previews.create.mutate({ operation: `${noun}.${verb}`, input })
}

/** Prints what a write would do. */
export async function showPreview(write: Write, options: PreviewOptions): Promise<void> {
  const preview = await previewOf(write)
  const lines = () =>
    `${tableOf(write.noun, preview, preview.changes.length, options)}${summaryOf(write.noun, preview)}\n`
  await answer(preview, options, lines)
}

/**
 * Shows what a write would do, and asks.
 *
 * @param question from the number of records
 * @returns the effect to confirm with the write; undefined if it would do nothing
 * @throws Failure if the answer is no, or nobody can answer
 */
export async function confirmEffect(
  write: Write,
  options: PreviewOptions,
  question: (records: string) => string,
): Promise<string | undefined> {
  const { noun } = write
  const preview = await previewOf(write)
  const { effect, changes: _, ...counts } = preview
  const asked = question(countText(noun, preview))
  if (totalOf(preview) === 0) {
    await answer(preview, options, () => `${summaryOf(noun, preview)}\n`)
    return undefined
  }
  const lines = tableOf(noun, preview, SAMPLE, options)
  if (!isInteractive()) throw new Failure('invalid', `${lines}${asked} Add --yes to confirm.`, counts)
  process.stderr.write(lines)
  if (!(await confirm(asked))) throw notConfirmed()
  return effect
}

/** The outcome of a question that was answered with no. */
export function notConfirmed(): Failure {
  return new Failure('interrupted', 'Nothing was changed.')
}

function totalOf({ created, updated, deleted }: Preview): number {
  return created + updated + deleted
}

/** `2 items`, or `3 records` if a deletion cascades to those of others. */
function countText(noun: Noun, preview: Preview, count = totalOf(preview)): string {
  const isOne = preview.changes.every(({ resource }) => resource === noun)
  return isOne ? countOf(noun, count) : `${count} ${count === 1 ? 'record' : 'records'}`
}

/** `2 items would be updated`. */
function summaryOf(noun: Noun, preview: Preview): string {
  const parts = (['created', 'updated', 'deleted'] as const).flatMap((done) =>
    preview[done] > 0 ? [`${countText(noun, preview, preview[done])} would be ${done}`] : [],
  )
  return parts.length === 0 ? 'Nothing would change' : parts.join(', ')
}

/** The first changes, with `24.5 → 20` where a field changes. */
function tableOf(noun: Noun, preview: Preview, most: number, { fields }: PreviewOptions): string {
  const changes = preview.changes.slice(0, most)
  const own = changes.filter(({ resource }) => resource === noun)
  const rows = own.map(({ before, after }) => {
    if (before === null || after === null) return before ?? after ?? {}
    const changed = Object.entries(after).flatMap(([name, value]) =>
      ASSIGNED.includes(name) || before[name] === value ? [] : [[name, `${cell(before[name])} → ${cell(value)}`]],
    )
    return { ...before, ...Object.fromEntries(changed) }
  })
  const names = [...new Set([...tableColumns(noun), ...own.flatMap(({ after }) => Object.keys(after ?? {}))])]
  const columns = fields ?? names.filter((name) => isShown(name, noun, own) && rows.some((row) => name in row))
  const more = totalOf(preview) - own.length
  return rows.length === 0 ? '' : `${table(columns, rows)}${more > 0 ? `… ${more} more\n` : ''}`
}

/** Whether a table of changes has a column: those of every table, and those of changed fields. */
function isShown(name: string, noun: Noun, changes: Preview['changes']): boolean {
  if (tableColumns(noun).includes(name)) return true
  return (
    !ASSIGNED.includes(name) && changes.some(({ before, after }) => before && after && before[name] !== after[name])
  )
}
