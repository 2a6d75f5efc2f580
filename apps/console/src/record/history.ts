import type { Output } from '@resource/client'
import { contract } from '@resource/contract'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { columnsOf, type ShownColumn } from '../changes/columns.ts'
import { client } from '../client.ts'
import { isChanged } from '../resources/describe-change.ts'
import type { Resource } from '../resources/resource.ts'
import { useAllows } from '../table/permissions.ts'
import { listed } from '../ui/format.ts'

/** A change of a record. */
export type Entry = Output<'audit', 'list'>['audit'][number]

/** A change of a record, with what became of it. */
export interface Told {
  entry: Entry
  /** The last change that undid or redid it. */
  last: Entry | undefined
  isUndone: boolean
}

const PAGE = 20

/** The changes of a record, the newest first. */
export function useHistory({ noun }: Resource, id: number, enabled = true) {
  return useInfiniteQuery({
    queryKey: [noun, 'history', id],
    queryFn: ({ pageParam, signal }) =>
      client.audit.list.query({ resource: noun, record_id: id, limit: PAGE, after: pageParam }, { signal }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    enabled,
  })
}

/** Changes without those that only undo or redo another one of them, which is told with that one. */
export function told(entries: Entry[]): Told[] {
  const byRequest = new Map(entries.map((entry) => [entry.request_id, entry]))
  const undoneBy = ({ reverses }: Entry) => (reverses === null ? undefined : byRequest.get(reverses))
  const originOf = (entry: Entry): { origin: Entry; depth: number } => {
    const other = undoneBy(entry)
    if (other === undefined || other === entry) return { origin: entry, depth: 0 }
    const { origin, depth } = originOf(other)
    return { origin, depth: depth + 1 }
  }
  const latest = new Map<Entry, { last: Entry; isUndone: boolean }>()
  for (const entry of entries) {
    const { origin, depth } = originOf(entry)
    if (depth > 0 && !latest.has(origin)) latest.set(origin, { last: entry, isUndone: depth % 2 === 1 })
  }
  return entries
    .filter((entry) => originOf(entry).depth === 0)
    .map((entry) => ({ entry, last: undefined, isUndone: false, ...latest.get(entry) }))
}

/** The fields that a change sets to another value; none if it creates or deletes the record. */
export function changedFields({ noun }: Resource, { before, after }: Entry): ShownColumn[] {
  if (before === null || after === null) return []
  return columnsOf(noun, [{ before, after }]).filter((column) => isChanged(column, before, after))
}

/** Why a change cannot be undone: `price` and `changed since`, or only `deleted since`. */
export interface Obstacle {
  names?: string
  text: string
}

/**
 * What stands in the way of undoing a change.
 *
 * @param stored the record as it is; undefined if it is not known, null if there is none
 * @param newer the later changes of the record that are known, without those that are undone
 */
export function obstacleOf(
  { noun, createFields, editFields }: Resource,
  { before, after }: Entry,
  stored: Record<string, unknown> | null | undefined,
  newer: Entry[],
): Obstacle | undefined {
  if (after === null) return undefined
  if (stored === null || newer.some((later) => later.after === null && later.before !== null))
    return { text: 'deleted since' }
  const fields = columnsOf(noun, [{ before, after }]).filter(({ field }) => {
    const isSet = before === null || before[field] !== after[field]
    // The service computes all others again.
    const isEdited = [...createFields, ...editFields].some(({ name }) => name === field)
    const isOther = stored !== undefined && field in stored && stored[field] !== after[field]
    // It may have the same value again.
    return isSet && isEdited && (isOther || newer.some((later) => sets(later, field)))
  })
  if (fields.length === 0) return undefined
  return {
    names: listed(fields.map(({ label }) => label.toLowerCase())),
    text: 'changed since',
  }
}

function sets({ before, after }: Entry, field: string): boolean {
  return before !== null && after !== null && before[field] !== after[field]
}

/** The proposal that a change applied. */
export function useProposalOf({ proposed_by, request_id }: Entry) {
  return useQuery({
    queryKey: ['proposals', 'of', request_id],
    queryFn: async ({ signal }) => {
      const input = { status: 'applied', request_id: request_id ?? '', limit: 1 }
      return (await client.proposals.list.query(input, { signal })).proposals[0] ?? null
    },
    enabled: proposed_by !== null && request_id !== null,
  })
}

/** The name of the API key that an actor is: `agent-crm` for `key 3`. Any other actor has no other name. */
export function useActorName(actor: string | null): string | null {
  return useKeyOf(actor)?.name ?? actor
}

/** Whether an actor is a program: an API key that only proposes, or one with an owner, which that of a person does not need. */
export function useIsProgram(actor: string | null): boolean {
  const key = useKeyOf(actor)
  return key !== undefined && (key.owner !== null || key.role === 'proposer')
}

function useKeyOf(actor: string | null) {
  const [, id] = /^key (\d+)$/.exec(actor ?? '') ?? []
  const { data } = useQuery({
    queryKey: ['keys', 'record', Number(id)],
    queryFn: ({ signal }) => client.keys.get.query({ id: Number(id) }, { signal }),
    enabled: useAllows(contract.keys.procedures.get) && id !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return data
}
