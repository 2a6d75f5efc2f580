import { contract, type Output } from '@resource/contract'
import { type AuditEntry, type Scope, type Scopes, timestamp } from '@resource/database'
import { authorize, type Caller, mayUse } from '../access/caller.ts'
import { keyOf } from '../store/scopes.ts'
import { cursorOf, type Position } from './position.ts'

export type Change = Output<'changes', 'list'>['changes'][number]

/** An entry of the audit log as the feed has it. */
export interface Entry extends Position {
  /** Undefined for what no reader may follow. */
  change: Change | undefined
  /** The record before the change as JSON; null if there was none. */
  before: string | null
  /** The same, once a scope was applied to it. */
  was?: StoredRecord | null | undefined
  /** Whether an API key or a session was created, or ended. */
  isAccess: boolean
  /** Roughly its size in memory. */
  size: number
}

/** Which changes a caller wants. */
export interface Filter {
  /** The same for the same filter. */
  key: string
  resources: ReadonlySet<string>
  record_id?: number | undefined
  scopes?: Scopes | undefined
}

/** The entry as a caller with this filter gets it; undefined if the caller does not. */
export function wanted(entry: Entry, { resources, record_id, scopes }: Filter): Entry | undefined {
  const { change } = entry
  if (change === undefined || !resources.has(change.resource)) return undefined
  if (record_id !== undefined && change.record_id !== record_id) return undefined
  const scope = scopes?.get(change.resource)
  return scope === undefined ? entry : inScope(entry, change, scope)
}

/**
 * A record that enters the scope is created for the caller, one that leaves it is deleted. An entry whose records were erased is of
 * no scope.
 */
function inScope(entry: Entry, change: Change, scope: Scope): Entry | undefined {
  const { record, resource } = change
  if (entry.was === undefined) entry.was = recordIn(entry.before) ?? null
  const { was } = entry
  const wasInside = was !== null && scope.outside(was) === undefined
  if (record !== null && scope.outside(record) === undefined)
    return wasInside || was === null ? entry : { ...entry, change: { ...change, type: `${resource}.created` } }
  if (!wasInside) return undefined
  const left = { ...change, type: `${resource}.deleted` as const, version: was.version, record: null }
  return record === null ? entry : { ...entry, change: left }
}

/** The columns of an entry that the feed reads. */
export const COLUMNS = ['id', 'at', 'resource', 'record_id', 'before', 'after'] as const

/** Larger than any stored one. The change of an entry whose records were erased has it: a deletion, unless the record still exists. */
export const LAST_VERSION = 2 ** 31 - 1

interface Followed {
  shown: readonly string[]
  access: string | undefined
}

/** The resources that can be followed, with the fields of their records. */
const followed = new Map<string, Followed>(
  contract.changes.procedures.list.input.shape.resources.unwrap().element.options.map((noun) => {
    const { output, access } = contract[noun].procedures.get
    return [noun, { shown: Object.keys(output.shape), access }]
  }),
)

/**
 * What a caller follows: the given resources, or all whose records the caller may read.
 *
 * @throws ApiError 403 if the caller may not read the records of one
 */
export function filterOf(
  { resources, record_id }: { resources?: readonly string[] | undefined; record_id?: number | undefined },
  { caller, scopes }: { caller: Caller; scopes?: Scopes | undefined },
): Filter {
  for (const noun of resources ?? []) authorize({ caller }, followed.get(noun)?.access)
  const readable = [...followed].flatMap(([noun, { access }]) => (mayUse(caller, access) ? [noun] : []))
  const chosen = resources ?? readable
  return { key: `${chosen} ${record_id} ${keyOf(scopes)}`, resources: new Set<string>(chosen), record_id, scopes }
}

/** @param onUnreadable gets the error of an entry that was damaged outside the service: it is left out of the changes */
export function entryOf(
  { id, at, resource, record_id, before, after }: Pick<AuditEntry, (typeof COLUMNS)[number]>,
  onUnreadable: (error: Error) => void,
): Entry {
  const position = { id, at: at.getTime() }
  const isAccess = resource === 'keys' || resource === 'sessions'
  const facts = { ...position, size: (before?.length ?? 0) + (after?.length ?? 0), before, isAccess }
  const shown = followed.get(resource)?.shown
  if (shown === undefined) return { ...facts, change: undefined }
  // That before a change is not needed if there is one after it: to parse both takes longer than to write one.
  const stored = recordIn(after ?? before)
  if (stored === null || record_id < 1) {
    onUnreadable(new Error(`Entry ${id} of the audit log has no readable record: the changes leave it out`))
    return { ...facts, change: undefined }
  }
  const happened = after === null ? 'deleted' : before === null ? 'created' : 'updated'
  const change: Change = {
    cursor: cursorOf(position),
    type: `${resource}.${happened}`,
    at: timestamp(at),
    resource,
    record_id,
    version: stored?.version ?? LAST_VERSION,
    record: after === null || stored === undefined ? null : shownIn(stored, shown),
  }
  return { ...facts, change }
}

/** Without `password: "set"`, and without fields that the service no longer has. */
function shownIn(stored: StoredRecord, shown: readonly string[]): Change['record'] {
  const record: NonNullable<Change['record']> = {}
  for (const name of shown) if (name in stored) record[name] = stored[name] ?? null
  return record
}

type StoredRecord = NonNullable<Change['record']> & { version: number }

/** The record in a column of an entry; undefined if there is none, null if it cannot be read. */
function recordIn(json: string | null): StoredRecord | null | undefined {
  if (json === null) return undefined
  try {
    const record = JSON.parse(json)
    return Number.isInteger(record?.version) ? record : null
  } catch {
    return null
  }
}
