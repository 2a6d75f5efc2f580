import type { Output } from '@resource/client'
import { contract } from '@resource/contract'
import { factsOf } from '@resource/contract/schema'
import { resources } from '../resources/index.ts'
import { nameOf, type Resource } from '../resources/resource.ts'
import { formatNumber, valueText } from '../resources/value-text.ts'
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

/** `Change Desk lamp`, `Raise the price of 7 items by 10 %`: what a proposal does, in detail; otherwise as `titleOf`. */
export function longTitleOf(proposal: Proposal): string {
  const { created, updated, deleted, changes } = proposal
  const [change] = changes
  const resource = resources.find(({ noun }) => noun === change?.resource)
  const image = change?.after ?? change?.before
  if (resource === undefined || image == null) return titleOf(proposal)
  const subject = created + updated + deleted === 1 ? nameOf(resource, image) : countOf(proposal)
  return effectOf(proposal, resource, subject) ?? titleOf(proposal).replace(countOf(proposal), subject)
}

/** What it does to a field, if all records get the same change of one. */
function effectOf({ operation, input }: Proposal, { recordColumns }: Resource, subject: string): string | undefined {
  if (!operation.endsWith('.updateWhere')) return undefined
  const { changes = {} } = input as { changes?: Record<string, Record<string, unknown>> }
  const [only, ...others] = Object.entries(changes).flatMap(([how, values]) =>
    Object.entries(values).map(([field, value]) => ({ how, field, value })),
  )
  const column = recordColumns.find(({ field }) => field === only?.field)
  if (only === undefined || column === undefined || others.length > 0) return undefined
  const label = column.label.toLowerCase()
  const value = Number(only.value)
  const text = (verb: string, rest: string) => `${verb} the ${label} of ${subject} ${rest}`
  const changed = (by: number, unit: string) => text(by < 0 ? 'Lower' : 'Raise', `by ${unit}`)
  if (only.how === 'multiply') {
    const percent = Number(((value - 1) * 100).toFixed(2))
    return changed(percent, `${Math.abs(percent)} %`)
  }
  return only.how === 'add'
    ? changed(value, formatNumber(Math.abs(value), column.decimals))
    : text('Set', `to ${valueText(column, only.value)}`)
}

/** `7 items`: the records of a proposal. */
export function countOf({ operation, created, updated, deleted }: Summary): string {
  return counted(operation, created + updated + deleted)
}

function counted(operation: string, count: number): string {
  const [noun] = operation.split('.')
  return formatCount(count, resources.find((resource) => resource.noun === noun) ?? { one: 'record', many: 'records' })
}
