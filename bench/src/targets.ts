import { type Program, programs } from './programs.ts'

/**
 * CPU per call on SQLite with 100,000 rows: the service takes at most `limit` times that of the limit, and `plain` at least
 * `plain` times that of the service.
 */
export const targets = [
  { workload: 'get', limit: 1.8, plain: 5 },
  { workload: 'list', limit: 1.6, plain: 2.4 },
  { workload: 'create', limit: 1.8, plain: 2 },
  { workload: 'bulk', limit: 2, plain: 5 },
  { workload: 'trpc-get', limit: 2.2, plain: 5 },
  { workload: 'trpc-batch', limit: 2.2, plain: 5 },
]

/** Maximum CPU at 1,000,000 rows relative to 1,000 rows. */
export const GROWTH = 1.3
/** Maximum CPU of the last page by cursor relative to the first. */
export const LAST_PAGE = 1.2
/** Maximum CPU relative to the limit on PostgreSQL. */
export const POSTGRESQL = 2
export const IDLE_MB = 120
export const START_MS = 1500

/**
 * Compares the service with the fastest peer of a variant.
 *
 * @param times CPU of a program relative to the service; undefined if it was not measured
 */
export function fastestPeer(variant: Program['peer'], times: (program: string) => number | undefined): string {
  const [fastest] = programs
    .filter(({ peer }) => peer === variant)
    .map(({ name }) => ({ name, ratio: times(name) ?? Number.POSITIVE_INFINITY }))
    .sort((a, b) => a.ratio - b.ratio)
  if (fastest === undefined || fastest.ratio === Number.POSITIVE_INFINITY) return '–'
  return `${fastest.name} takes ${fastest.ratio.toFixed(2)}x ${fastest.ratio > 1 ? 'yes' : '**no**'}`
}
