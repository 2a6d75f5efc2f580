import type { Client, Output } from '@resource/client'
import type { Globals } from './globals.ts'
import { answer } from './print-records.ts'
import { countOf, type JsonObject, type Noun, nouns } from './procedures.ts'
import { approve } from './prompt.ts'
import { cell, table } from './table.ts'
import { tableColumns } from './table-columns.ts'

const SAMPLE = 5
/** The fields that change with every change. */
const ASSIGNED = ['version', 'updated_at']

/** A call that writes. */
export interface Write {
  client: Client
  /** The name of the procedure: `items.update`. */
  operation: string
  input: JsonObject
}

/** The options of a command that can show what it would do, or propose it. */
export interface PreviewOptions extends Globals {
  preview?: boolean
  propose?: string
}

export type Preview = Output<'previews', 'create'>

/** What a write would do. */
export function previewOf({ client, operation, input }: Write): Promise<Preview> {
  return client.previews.create.mutate({ operation, input })
}

/** Whether a write is only to be shown or proposed. */
export function isOnlyShown({ preview, propose }: PreviewOptions): boolean {
  return preview === true || propose !== undefined
}

/** Prints what a write would do, and proposes it if there is a reason to. */
export async function showPreview(write: Write, options: PreviewOptions): Promise<void> {
  const { propose: reason } = options
  const { client, operation, input } = write
  if (reason === undefined) {
    const preview = await previewOf(write)
    return answer(preview, options, () => textOf(operation, preview, options))
  }
  const proposal = await client.proposals.create.mutate({ operation, input, reason })
  await answer(proposal, options, () => `${textOf(operation, proposal, options)}Proposal ${proposal.id}: ${reason}\n`)
}

type Shown = Omit<Preview, 'effect'>

/** The first records before and after a write, and how many it would write. */
export function textOf(operation: string, preview: Shown, options: Globals): string {
  const noun = nounOf(operation, preview)
  return `${tableOf(noun, preview, preview.changes.length, options)}${summaryOf(noun, preview)}\n`
}

/** The noun of the records that a write changes. A reversal has none of its own. */
function nounOf(operation: string, { changes }: Pick<Preview, 'changes'>): Noun {
  const names = [operation.slice(0, operation.indexOf('.')), changes[0]?.resource]
  return nouns.find((noun) => names.includes(noun)) ?? 'items'
}

/**
 * Shows what a write would do, and asks.
 *
 * @param question from the number of records
 * @returns false if it would do nothing
 * @throws Failure if the answer is no, or nobody can answer
 */
export async function confirmPreview(
  operation: string,
  preview: Preview,
  options: PreviewOptions,
  question: (records: string) => string,
): Promise<boolean> {
  const { effect: _effect, changes: _changes, steps: _steps, ...counts } = preview
  const noun = nounOf(operation, preview)
  const asked = question(countText(noun, preview))
  if (totalOf(preview) === 0) {
    await answer(preview, options, () => `${summaryOf(noun, preview)}\n`)
    return false
  }
  await approve(asked, tableOf(noun, preview, SAMPLE, options), counts)
  return true
}

export function totalOf({ created, updated, deleted }: Shown): number {
  return created + updated + deleted
}

/** `2 items`, or `3 records` if a deletion cascades to those of others. */
function countText(noun: Noun, preview: Shown, count = totalOf(preview)): string {
  const isOne = preview.changes.every(({ resource }) => resource === noun)
  return isOne ? countOf(noun, count) : `${count} ${count === 1 ? 'record' : 'records'}`
}

/** `2 items would be updated`. */
function summaryOf(noun: Noun, preview: Shown): string {
  const parts = (['created', 'updated', 'deleted'] as const).flatMap((done) =>
    preview[done] > 0 ? [`${countText(noun, preview, preview[done])} would be ${done}`] : [],
  )
  return parts.length === 0 ? 'Nothing would change' : parts.join(', ')
}

/** The first changes, with `24.5 → 20` where a field changes. */
function tableOf(noun: Noun, preview: Shown, most: number, { fields }: Globals): string {
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
function isShown(name: string, noun: Noun, changes: Shown['changes']): boolean {
  if (tableColumns(noun).includes(name)) return true
  return (
    !ASSIGNED.includes(name) && changes.some(({ before, after }) => before && after && before[name] !== after[name])
  )
}
