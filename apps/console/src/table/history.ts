import { type CallOptions, type GroupOptions, NotFoundError, ServiceError } from '@resource/client'
import { writer } from '../client.ts'
import { queryClient } from '../query-client.ts'
import { LONG_TIMEOUTS, type Preview } from '../resources/calls.ts'
import { describeChange } from '../resources/describe-change.ts'
import { nameOf, type Resource, type Row } from '../resources/resource.ts'
import { errorMessage, formatCount, isOutage, sentence } from '../ui/format.ts'
import { onLogOut } from '../ui/log-out.ts'
import { type NoticeLink, notify } from '../ui/notices.ts'
import { beginWork } from '../ui/work.ts'
import { inTurn, latestOf, noteWrite } from './turns.ts'

/** What a write did. */
export interface Written {
  /** The answer to its request, its request id, or the group of its requests. */
  request: object | string
  /** The records before and after; null before a creation and after a deletion. Of very many, the first ones. */
  changes: { before: Values | null; after: Values | null }[]
  /** The number of changed records. */
  count: number
}

type Values = Record<string, unknown>

interface Edit {
  resource: Resource
  /** Past participle for notices: `saved`. */
  done: string
  ids: number[]
  /** What its last write did: that of the edit, of its undo, or of its redo. */
  written: Promise<Written>
  /** The page of the edit. */
  place: NoticeLink
  isUndone: boolean
}

const MAX_EDITS = 200
const MAX_NAMED = 3
const NOTHING: Written = { request: '', changes: [], count: 0 }

// In the order of the user's actions. Those that are undone come last.
let edits: Edit[] = []

onLogOut(() => {
  edits = []
})

/**
 * Adds an edit to those that can be undone, before the service has answered, so that undoing follows the order in which the user
 * edited.
 *
 * @returns reports the edit, once the service has accepted it
 */
export function addEdit(
  resource: Resource,
  done: string,
  ids: number[],
  written: Promise<Written>,
): (link?: NoticeLink, word?: string) => Promise<void> {
  const place = currentPlace(resource)
  const edit = { resource, done, ids, written: written.catch(() => NOTHING), place, isUndone: false }
  edits = [...edits.filter(({ isUndone }) => !isUndone), edit].slice(-MAX_EDITS)
  void edit.written.then(({ count }) => count === 0 && remove(edit))
  return (link, word = done) => announce(edit, word, link)
}

/** Undoes the last edit that is not undone. */
export function undoLast(): void {
  const edit = edits.findLast(({ isUndone }) => !isUndone)
  if (edit !== undefined) void move(edit, true)
}

/** Repeats the edit that was undone last. */
export function redoLast(): void {
  const edit = edits.find(({ isUndone }) => isUndone)
  if (edit !== undefined) void move(edit, false)
}

/** Undoes a request, also of another user, exactly as a preview has shown. */
export async function undoRequest(resource: Resource, requestId: string, preview: Preview): Promise<void> {
  const changes = swapped(preview.changes.filter((change) => change.resource === resource.noun))
  const count = preview.created + preview.updated + preview.deleted
  await undoWritten(resource, { request: requestId, changes, count }, preview.effect)
}

/** Undoes a write that may be another user's. @param effect what it must do, if the write is one request */
export async function undoWritten(resource: Resource, written: Written, effect?: string): Promise<void> {
  const ids = written.changes.flatMap(({ before, after }) => idOf(after ?? before))
  const place = currentPlace(resource)
  const edit = { resource, done: 'changed', ids, written: Promise.resolve(written), place, isUndone: false }
  edits = [...edits.filter(({ isUndone }) => !isUndone), edit]
  await move(edit, true, effect)
}

/**
 * Undoes an edit, or its undo.
 *
 * @param ifEffect what it must do, if the edit is one request
 */
async function move(edit: Edit, isUndone: boolean, ifEffect?: string): Promise<void> {
  if (!edits.includes(edit) || edit.isUndone === isUndone) return
  edit.isUndone = isUndone
  const { resource, ids, written } = edit
  let work: ReturnType<typeof beginWork> | undefined
  const reversed = inTurn(resource.noun, ids, async () => {
    const before = await written
    const title = `${isUndone ? 'Undoing' : 'Redoing'}: ${subject(resource, before.changes, before.count)} ${edit.done}`
    const onProgress = (done: number, total: number) => {
      // One request needs no progress.
      if (done === 0 || done === total) return
      work ??= beginWork({ title })
      work.update(done, total)
    }
    return reverse(resource, before, { ...LONG_TIMEOUTS, ifEffect, onProgress })
  })
  edit.written = reversed.catch(() => written)
  try {
    const { changes } = await reversed
    await announce(edit, wordOf(edit, changes))
  } catch (error) {
    const { changes, count } = await written
    const word = wordOf(edit, swapped(changes))
    const tried = describe(resource, swapped(changes), count)
    const headline = `${subject(resource, changes, count)} not ${word}${tried && ` (${tried})`}`
    const rest = work === undefined ? '' : ' What was done after it is undone.'
    notify('failed', `${headline}. ${reasonOf(resource, changes, error)}${rest}`, {
      link: linkTo(edit.place),
    })
    // After a log-in, a pause or an outage, the same request may succeed.
    if (isOutage(error) || (error instanceof ServiceError && error.status === 401)) edit.isUndone = !isUndone
    else remove(edit)
  }
  work?.end()
  // A deletion may have cascaded to other nouns.
  await queryClient.invalidateQueries()
}

async function reverse(
  { noun }: Resource,
  { request, changes, count }: Written,
  options: GroupOptions & Pick<CallOptions, 'ifEffect'>,
): Promise<Written> {
  const reversal = await writer.undo(request, options)
  const reversed = changes.map(({ before, after }) => {
    if (before === null || after === null || !isRow(after)) return { before: after, after: before }
    const latest = latestOf(noun, after)
    const restored = { ...latest, ...differing(before, after), version: latest.version + 1 }
    noteWrite(noun, latest, restored)
    return { before: latest, after: restored }
  })
  return { request: reversal, changes: reversed, count }
}

/** The id of a record; a preview has none of a new one. */
export function idOf(record: Values | null): number[] {
  return typeof record?.id === 'number' ? [record.id] : []
}

export function isRow(record: Values | null): record is Row {
  return typeof record?.id === 'number' && typeof record.version === 'number'
}

function differing(before: Values, after: Values): Values {
  return Object.fromEntries(Object.entries(before).filter(([name, value]) => value !== after[name]))
}

function swapped(changes: Written['changes']): Written['changes'] {
  return changes.map(({ before, after }) => ({ before: after, after: before }))
}

function wordOf({ done, isUndone }: Edit, [first]: Written['changes']): string {
  if (!isUndone) return `${done} again`
  if (first === undefined) return 'reverted'
  return first.after === null ? 'removed' : 'restored'
}

/** Why an undo failed: what has changed since, if the service named it. */
export function reasonOf(resource: Resource, changes: Written['changes'], error: unknown): string {
  // No record is missing, but the audit log's entry of the request.
  if (error instanceof NotFoundError) return sentence(error.message)
  // The error of a preview names the input of the write.
  const lists = [resource.noun, `input.${resource.noun}`]
  const faults = error instanceof ServiceError ? lists.flatMap((list) => [...error.faultsIn(list)]) : []
  if (faults.length === 0) return errorMessage(error)
  const named = faults.slice(0, MAX_NAMED).map(([id, fault]) => {
    const known = changes.map(({ before, after }) => after ?? before).find((row) => row?.id === id)
    return `${known ? nameOf(resource, known) : `ID ${id}`}: ${fault.replace(/^(\w+):/, '$1')}`
  })
  const more = faults.length > MAX_NAMED ? [`${formatCount(faults.length - MAX_NAMED, resource)} more`] : []
  return sentence([...named, ...more].join('; '))
}

async function announce(edit: Edit, word: string, link?: NoticeLink): Promise<void> {
  const { resource, place, isUndone } = edit
  const { changes, count } = await edit.written
  if (count === 0) return
  const [first] = changes
  // Nothing is left to be shown of a deleted record.
  const elsewhere = first?.after === null ? undefined : linkTo(place)
  const details = describe(resource, changes, count)
  const where = elsewhere === undefined ? '' : ` (${place.label})`
  notify('done', subject(resource, changes, count), {
    done: word,
    details: `${details && `: ${details}`}${where}`,
    action: { label: isUndone ? 'Redo' : 'Undo', act: () => void move(edit, !isUndone) },
    link: elsewhere ?? link,
  })
}

/** `Grace Hopper`, or `3 users`. */
function subject(resource: Resource, [first]: Written['changes'], count: number): string {
  const row = first?.after ?? first?.before
  return count === 1 && row ? nameOf(resource, row) : formatCount(count, resource)
}

/** `price from 42.50 to 12.25`, if all records have the same; nothing for created and deleted ones. */
function describe(resource: Resource, changes: Written['changes'], count: number): string {
  const edited = changes.flatMap(({ before, after }) =>
    before === null || after === null ? [] : { after, text: describeChange(resource, before, after) },
  )
  const [first] = edited
  if (first === undefined) return ''
  if (count === 1) return first.text
  const isSame = edited.length === count && edited.every(({ text }) => text === first.text)
  return isSame ? first.text : ''
}

function remove(edit: Edit): void {
  edits = edits.filter((other) => other !== edit)
}

/** A link to the page of an edit, if the browser shows another. */
function linkTo({ href }: NoticeLink): NoticeLink | undefined {
  return href === currentHref() ? undefined : { label: 'Show', href }
}

/** The page of a noun that the browser shows: `Items, page 2`. An import may end while it shows another noun. */
function currentPlace({ title, noun }: Resource): NoticeLink {
  const href = currentHref()
  if (!href.startsWith(`/${noun}`)) return { label: title, href: `/${noun}` }
  const [, id] = /\/(\d+)(?:\?|$)/.exec(href) ?? []
  const page = new URLSearchParams(window.location.search).get('page')
  return { label: [title, ...(id ? [`ID ${id}`] : []), ...(page ? [`page ${page}`] : [])].join(', '), href }
}

/** What the browser shows, without its dialog. */
function currentHref(): string {
  const { pathname, search } = window.location
  const query = new URLSearchParams(search)
  query.delete('open')
  return `${pathname.replace('/console', '')}${query.size === 0 ? '' : `?${query}`}`
}
