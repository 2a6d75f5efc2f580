import { contract } from '@resource/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { client } from '../client.ts'
import { resources } from '../resources/index.ts'
import type { Noun, Resource } from '../resources/resource.ts'
import { useSummaries } from '../resources/summaries.ts'
import { useAllows } from '../table/permissions.ts'
import { formatCount } from '../ui/format.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const DAYS = 7
// A line of one shows nothing.
const MIN_HEIGHTS = 2
const CHANGES = { one: 'change', many: 'changes' }
// The audit log counts them one by one.
const STALE_MS = 5 * 60_000

/** The number of records of each noun, and how many changes each of the last days had. */
export function Totals({ nowMs }: { nowMs: number }) {
  return (
    <ul className="totals" aria-label="Records">
      {resources.map((resource) => (
        <Total key={resource.noun} resource={resource} nowMs={nowMs} />
      ))}
    </ul>
  )
}

function Total({ resource: { noun, title }, nowMs }: { resource: Resource; nowMs: number }) {
  const { data, error } = useSummaries(noun, {})
  const count = data?.summaries[0]?.count
  const isAllowed = useAllows(contract.audit.procedures.list)
  const { data: days } = useDays(noun, nowMs, isAllowed)
  const week = days?.reduce((sum, changes) => sum + changes, 0)
  return (
    <li>
      <Link href={`/${noun}`}>
        <span>{title}</span>{' '}
        <strong translate="no">{count?.toLocaleString('en') ?? (error === null ? '…' : '?')}</strong>{' '}
        {isAllowed && (
          // An empty line keeps its place.
          <small>{week === undefined ? '\u00a0' : `${formatCount(week, CHANGES)} this week`}</small>
        )}
        {days !== undefined && new Set(days).size >= MIN_HEIGHTS && <Line values={days} />}
      </Link>
    </li>
  )
}

/** The number of changes of each of the last seven days, by the audit log. */
function useDays(noun: Noun, nowMs: number, isAllowed: boolean) {
  return useQuery({
    queryKey: [noun, 'days'],
    queryFn: ({ signal }) =>
      Promise.all(
        Array.from({ length: DAYS }, async (_, index) => {
          const fromMs = nowMs - (DAYS - index) * DAY_MS
          const [at_gte, at_lt] = [fromMs, fromMs + DAY_MS].map((ms) => new Date(ms).toISOString())
          const input = { resource: noun, limit: 1, count: true, at_gte, ...(index < DAYS - 1 && { at_lt }) }
          const { total } = await client.audit.list.query(input, { signal })
          return total ?? 0
        }),
      ),
    staleTime: STALE_MS,
    enabled: isAllowed,
  })
}

function Line({ values }: { values: number[] }) {
  const largest = Math.max(1, ...values)
  const points = values.map((value, index) => `${index * 16} ${38 - (36 * value) / largest}`).join(' L')
  return (
    <svg viewBox="0 0 96 40" preserveAspectRatio="none" aria-hidden="true">
      <path className="area" d={`M${points} L96 40 L0 40 Z`} />
      <path d={`M${points}`} />
    </svg>
  )
}
