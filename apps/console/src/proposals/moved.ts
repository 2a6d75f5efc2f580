import { columnsOf, type RecordChange } from '../changes/columns.ts'
import { isChanged } from '../resources/describe-change.ts'
import type { Proposal } from './proposal.ts'

type Change = Proposal['changes'][number]

/** How what an open proposal would do now differs from what it showed. */
export interface Moved {
  /** The changes that it showed and would not make now, or not with the same values. */
  former: Change[]
  /** Those that it would make now instead, or in addition. */
  now: Change[]
}

/** Compares both lists of changes. Long ones have only their beginnings, which are compared as far as both reach. */
export function movedSince({ changes, current_changes, created, updated, deleted }: Proposal): Moved {
  const isCut = changes.length < created + updated + deleted
  const reach = isCut ? Math.min(lastId(changes), lastId(current_changes)) : Number.POSITIVE_INFINITY
  const compared = (all: Change[]) => all.filter(({ id }) => (id ?? 0) <= reach)
  return {
    former: without(compared(changes), compared(current_changes)),
    now: without(compared(current_changes), compared(changes)),
  }
}

/** The changes that are not also in another list. */
function without(all: Change[], others: Change[]): Change[] {
  return all.filter(
    (change, index) =>
      !others.some((other, at) => {
        const isOfSame = change.resource === other.resource && change.id === other.id
        // A record to be created has no id.
        return isOfSame && (change.id !== null || index === at) && isAlike(change, other)
      }),
  )
}

function isAlike(one: RecordChange, other: RecordChange): boolean {
  const columns = columnsOf(one.resource, [one, other])
  return columns.every(
    (column) => !isChanged(column, one.before, other.before) && !isChanged(column, one.after, other.after),
  )
}

function lastId(changes: Change[]): number {
  return Math.max(0, ...changes.map(({ id }) => id ?? 0))
}
