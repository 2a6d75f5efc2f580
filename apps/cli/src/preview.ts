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

/** The options of a command that can show what it would do, or propose it. */
export interface PreviewOptions extends Globals {
  preview?: boolean
  propose?: string
}

type Preview = Omit<Output<'previews', 'create'>, 'effect'>

function previewOf({ client, noun, verb, input }: Write) {
  return client.previews.create.mutate({ operation: `${noun}.${verb}`, input })
}

/** Whether a write is only to be shown or proposed. */
export function isOnlyShown({ preview, propose }: PreviewOptions): boolean {
  return preview === true || propose !== undefined
}

/** Prints what a write would do, and proposes it if there is a reason to. */
export async function showPreview(write: Write, options: PreviewOptions): Promise<void> {
  const { propose: reason } = options
  if (reason === undefined) {
    const preview = await previewOf(write)
    return answer(preview, options, () => textOf(write.noun, preview, options))
  }
  const { client, noun, verb, input } = write
  const proposal = await client.proposals.create.mutate({ operation: `${noun}.${verb}`, input, reason })
  await answer(proposal, options, () => `${textOf(noun, proposal, options)}Proposal ${proposal.id}: ${reason}\n`)
}

/** The first records before and after a write, and how many it would write. */
export function textOf(noun: Noun, preview: Preview, options: Globals): string {
  return `${tableOf(noun, preview, preview.changes.length, options)}${summaryOf(noun, preview)}\n`
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
function tableOf(noun: Noun, preview: Preview, most: number, { fields }: Globals): string {
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
