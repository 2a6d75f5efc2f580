import { programs } from './programs.ts'

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
 * Whether the service takes less than each peer, the nearest of which is named.
 *
 * @param cpu of a program, undefined where it was not measured
 */
export function aheadOfEveryPeer(cpu: (program: string) => number | undefined): string {
  const ours = cpu('ours')
  const [nearest] = programs
    .filter(({ name }) => name !== 'ours' && name !== 'limit')
    .flatMap(({ name }) => ({ name, cpu: cpu(name) ?? Number.POSITIVE_INFINITY }))
    .sort((a, b) => a.cpu - b.cpu)
  if (ours === undefined || nearest === undefined || nearest.cpu === Number.POSITIVE_INFINITY) return '–'
  const ratio = nearest.cpu / ours
  return `${nearest.name} takes ${ratio.toFixed(2)}x ${ratio > 1 ? 'yes' : '**no**'}`
}
