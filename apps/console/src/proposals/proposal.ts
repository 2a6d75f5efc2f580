import type { Output } from '@resource/client'
import { contract } from '@resource/contract'
import { factsOf } from '@resource/contract/schema'
import { resources } from '../resources/index.ts'
import { nameOf } from '../resources/resource.ts'
import { formatCount } from '../ui/format.ts'

/** A proposal, with what it would do now. */
export type Proposal = Output<'proposals', 'get'>

type Summary = Pick<Proposal, 'operation' | 'created' | 'updated' | 'deleted'>

const { status } = contract.proposals.procedures.get.output.shape

/** The statuses of proposals, the first is that of new ones. */
export const STATUSES = factsOf(status).choices as Proposal['status'][]

const VERBS = { created: 'Create', updated: 'Change', deleted: 'Delete' } as const

/** `Change 7 items`: what a proposal does. */
export function titleOf({ operation, ...counts }: Summary): string {
  if (operation.startsWith('reversals.')) return `Undo a request: ${countOf({ operation, ...counts })}`
  const done = Object.entries(VERBS).flatMap(([name, verb]) => {
    const count = counts[name as keyof typeof VERBS]
    return count === 0 ? [] : [`${verb} ${counted(operation, count)}`]
  })
  return done.join(', ').replace(/, \w/g, (start) => start.toLowerCase()) || 'Change nothing'
}

/** `Change Desk lamp`: what a proposal of one record does; otherwise as `titleOf`. */
export function longTitleOf(proposal: Proposal): string {
  const { created, updated, deleted, changes } = proposal
  const [change] = changes
  const resource = resources.find(({ noun }) => noun === change?.resource)
  const image = change?.after ?? change?.before
  if (created + updated + deleted !== 1 || resource === undefined || image == null) return titleOf(proposal)
  const title = titleOf(proposal)
  return title.replace(countOf(proposal), nameOf(resource, image))
}

/** `7 items`: the records of a proposal. */
export function countOf({ operation, created, updated, deleted }: Summary): string {
  return counted(operation, created + updated + deleted)
}

function counted(operation: string, count: number): string {
  const [noun] = operation.split('.')
  return formatCount(count, resources.find((resource) => resource.noun === noun) ?? { one: 'record', many: 'records' })
}
