import { describeChange } from '../resources/describe-change.ts'
import { nameOf, type Resource, type Row } from '../resources/resource.ts'
import { formatCount } from '../ui/format.ts'
import { onLogOut } from '../ui/log-out.ts'
import { type NoticeLink, notify } from '../ui/notices.ts'
import { applyOptimistically } from './optimistic.ts'
import { refresh } from './queries.ts'
import { reportFailures, sendRows, writeRows } from './write.ts'

/** The fields of a record before and after an edit. */
export interface Change {
  before: Record<string, unknown>
  after: Record<string, unknown>
  /** The record as the last write of this edit left it. */
  stored: Row
}

/** What an edit changes in a record, among the fields that it sets. */
export function changeOf(before: Row, stored: Row, set: Record<string, unknown>): Change {
  const kept = Object.keys(set).map((name) => [name, before[name]])
  return { before: Object.fromEntries(kept), after: set, stored }
}

interface Edit {
  resource: Resource
  /** Past participle for notices: `saved`. */
  done: string
  ids: number[]
  /** What it changes; empty if it failed. */
  changes: Promise<Change[]>
  /** The page of the edit. */
  place: NoticeLink
  isUndone: boolean
}

const MAX_EDITS = 200
const MAX_NAMED = 3

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
  changes: Promise<Change[]>,
): (headline?: string, link?: NoticeLink) => Promise<void> {
  const place = currentPlace(resource)
  const edit = { resource, done, ids, changes: changes.catch(() => []), place, isUndone: false }
  edits = [...edits.filter(({ isUndone }) => !isUndone), edit].slice(-MAX_EDITS)
  void removeIfEmpty(edit)
  return (headline, link) => announce(edit, done, headline, link)
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

async function move(edit: Edit, isUndone: boolean): Promise<void> {
  if (!edits.includes(edit) || edit.isUndone === isUndone) return
  edit.isUndone = isUndone
  const word = isUndone ? 'restored' : `${edit.done} again`
  const written = write(edit, word)
  edit.changes = written.then(({ changes }) => changes)
  if ((await written).isUnsent) {
    // To be tried again.
    edit.isUndone = !isUndone
    return
  }
  await removeIfEmpty(edit)
  await announce(edit, word)
}

/** Writes one side of an edit, unless someone else has changed the record since. */
async function write({ resource, ids, changes, place, isUndone }: Edit, word: string) {
  const { noun } = resource
  const fieldsOf = ({ before, after }: Change) => (isUndone ? before : after)
  let settles: (() => void)[] = []
  const { done, failed } = await writeRows(
    noun,
    ids,
    async () => (await changes).map(({ stored }) => stored),
    async (latest) => {
      const all = await changes
      settles = all.map((change) =>
        applyOptimistically(noun, change.stored.id, (row) => ({ ...row, ...fieldsOf(change) })),
      )
      return sendRows(
        noun,
        latest.map(({ id, version }, index) => ({ ...fieldsOf(all[index] as Change), id, if_version: version })),
      )
    },
  )
  const valuesOf = new Map((await changes).map((change) => [change.stored.id, describe(resource, [change], isUndone)]))
  reportFailures(resource, word, failed, ({ id }) => ` (${valuesOf.get(id)})`, linkTo(resource, place))
  void refresh(resource).then(() => {
    for (const settle of settles) settle()
  })
  const isUnsent = failed.length > 0 && done.length === 0 && failed.every(({ status }) => isTemporary(status))
  const stored = new Map(done.map(({ before, after }) => [before.id, after ?? before]))
  const written = (await changes).flatMap((change) => {
    const row = stored.get(change.stored.id)
    return row === undefined ? [] : { ...change, stored: row }
  })
  return { changes: isUnsent ? await changes : written, isUnsent }
}

/** Whether the same request may succeed later: after a log-in, a pause or an outage. */
function isTemporary(status: number): boolean {
  return status === 0 || status === 401 || status === 429 || status >= 500
}

async function announce(edit: Edit, word: string, headline?: string, link?: NoticeLink): Promise<void> {
  const { resource, place, isUndone } = edit
  const changes = await edit.changes
  const [first] = changes
  if (first === undefined) return
  const count = changes.length === 1 ? nameOf(resource, first.stored) : formatCount(changes.length, resource)
  const elsewhere = linkTo(resource, place)
  const where = elsewhere === undefined ? '' : ` (${place.label})`
  notify('done', `${headline ?? `${count} ${word}`}: ${describe(resource, changes, isUndone)}${where}`, {
    action: { label: isUndone ? 'Redo' : 'Undo', act: () => void move(edit, !isUndone) },
    link: elsewhere ?? link,
  })
}

/** `price from 42.50 to 12.25`; of several records also their names. */
function describe(resource: Resource, changes: Change[], isUndone: boolean): string {
  const texts = changes.map(({ before, after }) =>
    isUndone ? describeChange(resource, after, before) : describeChange(resource, before, after),
  )
  if (changes.length === 1) return texts[0] ?? ''
  const isSame = texts.every((text) => text === texts[0])
  const named = changes.slice(0, MAX_NAMED).map(({ stored }, index) => {
    const name = nameOf(resource, stored)
    return isSame ? name : `${name} ${texts[index]}`
  })
  const more = changes.length > MAX_NAMED ? ` and ${(changes.length - MAX_NAMED).toLocaleString('en')} more` : ''
  return `${isSame ? `${texts[0]} for ` : ''}${named.join(', ')}${more}`
}

async function removeIfEmpty(edit: Edit): Promise<void> {
  if ((await edit.changes).length === 0) edits = edits.filter((other) => other !== edit)
}

/** A link to the page of an edit, if the browser shows another. */
function linkTo(resource: Resource, { href }: NoticeLink): NoticeLink | undefined {
  return href === currentPlace(resource).href ? undefined : { label: 'Show', href }
}

/** The page that the browser shows, without its dialog: `Items, page 2`. */
function currentPlace({ title }: Resource): NoticeLink {
  const { pathname, search } = window.location
  const query = new URLSearchParams(search)
  query.delete('open')
  const [, id] = pathname.match(/\/(\d+)$/) ?? []
  const page = query.get('page')
  return {
    label: [title, ...(id ? [`ID ${id}`] : []), ...(page ? [`page ${page}`] : [])].join(', '),
    href: `${pathname.replace('/console', '')}${query.size === 0 ? '' : `?${query}`}`,
  }
}
