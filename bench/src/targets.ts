import { type Program, programs } from './programs.ts'

/** CPU per call on SQLite with 100,000 rows: at most `limit` times the limit's, and the plain stack's at least `plain` times ours. */
export const targets = [
  { work: 'get', limit: 1.8, plain: 5 },
  { work: 'list', limit: 1.6, plain: 2.4 },
  { work: 'create', limit: 1.8, plain: 2 },
  { work: 'bulk', limit: 2, plain: 5 },
  { work: 'trpc-get', limit: 2.2, plain: 5 },
  { work: 'trpc-batch', limit: 2.2, plain: 5 },
]

/** At 1,000,000 rows against 1,000. */
export const GROWTH = 1.3
/** Last page by cursor against the first. */
export const LAST_PAGE = 1.2
/** Against the limit on PostgreSQL. */
export const POSTGRESQL = 2
export const IDLE_MB = 120
export const START_MS = 1500

/**
 * Whether the service takes less than each peer of a form, the nearest of which is named.
 *
 * @param times how often the service's CPU is in that of a program, undefined where it was not measured
 */
export function aheadOfEveryPeer(form: Program['peer'], times: (program: string) => number | undefined): string {
  const [nearest] = programs
    .filter(({ peer }) => peer === form)
    .map(({ name }) => ({ name, ratio: times(name) ?? Number.POSITIVE_INFINITY }))
    .sort((a, b) => a.ratio - b.ratio)
  if (nearest === undefined || nearest.ratio === Number.POSITIVE_INFINITY) return '–'
  return `${nearest.name} takes ${nearest.ratio.toFixed(2)}x ${nearest.ratio > 1 ? 'yes' : '**no**'}`
}
