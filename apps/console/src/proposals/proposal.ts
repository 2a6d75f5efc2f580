import type { Output } from '@resource/client'
import { contract } from '@resource/contract'
import { factsOf } from '@resource/contract/schema'

/** A proposal, with what it would do now. */
export type Proposal = Output<'proposals', 'get'>

const { status } = contract.proposals.procedures.get.output.shape

/** The statuses of proposals, the first is that of new ones. */
export const STATUSES = factsOf(status).choices as Proposal['status'][]

export const TIME = { kind: 'time', decimals: 0 } as const

/** `2 created, 14 updated`: what a write changes. */
export function describeCounts(counts: Pick<Proposal, 'created' | 'updated' | 'deleted'>): string {
  const { created, updated, deleted } = counts
  return Object.entries({ created, updated, deleted })
    .flatMap(([done, count]) => (count === 0 ? [] : `${count.toLocaleString('en')} ${done}`))
    .join(', ')
}
