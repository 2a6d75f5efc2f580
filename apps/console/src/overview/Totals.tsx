import { contract } from '@resource/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { client } from '../client.ts'
import { queryClient } from '../query-client.ts'
import { resources } from '../resources/index.ts'
import type { Noun, Resource } from '../resources/resource.ts'
import { summariesOf, useSummaries } from '../resources/summaries.ts'
import { useAllows } from '../table/permissions.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const DAYS = 7
// A line of one shows nothing.
const MIN_HEIGHTS = 2
// The audit log counts them one by one.
const STALE_MS = 5 * 60_000

/** The number of records of each noun, and how it has grown in the last days. */
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
  // After the figures of the first batch, which would wait for it.
  const { data: growth } = useGrowth(noun, nowMs, isAllowed && count !== undefined)
  // What was created and deleted since is not in the days.
  const added = growth === undefined || count === undefined ? 0 : count - growth.count
  const days = growth?.days.with(-1, (growth.days.at(-1) ?? 0) + added)
  const week = days?.reduce((sum, net) => sum + net, 0)
  const totals = growth && days && totalsOf(growth.count + added, days)
  return (
    <li>
      <Link href={`/${noun}`}>
        <span>{title}</span>{' '}
        <strong translate="no">{count?.toLocaleString('en') ?? <Unknown isFailed={error !== null} />}</strong>{' '}
        {isAllowed && (
          // An empty line keeps its place.
          <small>{week === undefined ? '\u00a0' : `${signed(week)} this week`}</small>
        )}
        {totals !== undefined && new Set(totals).size >= MIN_HEIGHTS && <Line values={totals} />}
      </Link>
    </li>
  )
}

/** In place of a number that loads or cannot be loaded. */
function Unknown({ isFailed }: { isFailed: boolean }) {
  return (
    <>
      <span className="hidden">{isFailed ? 'cannot be loaded' : 'Loading…'}</span>
      {isFailed ? (
        <span className="faint" aria-hidden="true">
          –
        </span>
      ) : (
        <i aria-hidden="true" />
      )}
    </>
  )
}

/** By how much the records have grown in each of the last seven days, by the audit log, and their number when it was read. */
function useGrowth(noun: Noun, nowMs: number, enabled: boolean) {
  return useQuery({
    queryKey: [noun, 'growth'],
    queryFn: async ({ signal }) => {
      const read = async (change: 'created' | 'deleted', index: number) => {
        const fromMs = nowMs - (DAYS - index) * DAY_MS
        const [at_gte, at_lt] = [fromMs, fromMs + DAY_MS].map((ms) => new Date(ms).toISOString())
        const input = { resource: noun, change, limit: 1, count: true, at_gte, ...(index < DAYS - 1 && { at_lt }) }
        const { total = 0 } = await client.audit.list.query(input, { signal })
        return total
      }
      const days = Array.from({ length: DAYS }, async (_, index) => {
        const [created, deleted] = await Promise.all([read('created', index), read('deleted', index)])
        return created - deleted
      })
      const [{ summaries }, ...nets] = await Promise.all([queryClient.fetchQuery(summariesOf(noun, {})), ...days])
      return { count: summaries[0]?.count ?? 0, days: nets }
    },
    staleTime: STALE_MS,
    enabled,
  })
}

/** The number of records at the end of each day, and before the first. @param days by how much it has grown in each */
function totalsOf(count: number, days: number[]): number[] {
  return days.reduceRight(([first = count, ...rest], net) => [first - net, first, ...rest], [count])
}

/** `+1,284`, `−6`. */
function signed(value: number): string {
  return value.toLocaleString('en', { signDisplay: 'exceptZero' }).replace('-', '−')
}

function Line({ values }: { values: number[] }) {
  const [least, largest] = [Math.min(...values), Math.max(...values)]
  const points = values
    .map((value, index) => `${(96 * index) / (values.length - 1)} ${38 - (36 * (value - least)) / (largest - least)}`)
    .join(' L')
  return (
    <svg viewBox="0 0 96 40" preserveAspectRatio="none" aria-hidden="true">
      <path className="area" d={`M${points} L96 40 L0 40 Z`} />
      <path d={`M${points}`} />
    </svg>
  )
}
