import { type ListTable, type Summary, type Tables, timestamp, type Where } from '@resource/database'
import type { Context } from './context.ts'
import type { Row, Values } from './row-mapping.ts'
import { keyOf } from './scopes.ts'

// A summary that took t ms is reused for 20 t, at most 10 s: repeated summaries of a large table then cost at most a
// twentieth of a core. Until 200 t, at most a minute, it is still returned while a new one is computed: a small table, whose
// summary took long for another reason, then shows figures of the last second or two.
const REUSE_FACTOR = 20
const MAX_REUSE_MS = 10_000
const STALE_FACTOR = 200
const MAX_AGE_MS = 60_000
/** A faster summary is not kept. */
const CHEAP_MS = 5
const MAX_KEPT = 100

interface Answer {
  summaries: Summary[]
  as_of: string
}

interface Kept {
  answer: Answer
  freshUntilMs: number
  staleUntilMs: number
}

interface SummaryInput {
  by?: string
  of?: string
  prefix?: string
  limit: number
}

/**
 * The procedure `summarize` of a collection.
 *
 * @param whereOf the condition of the filters in an input
 */
export function summaryService(tableOf: (tables: Tables) => ListTable<Row>, whereOf: (input: Values) => Where<Row>) {
  const kept = new Map<string, Kept>()
  const running = new Map<string, Promise<Answer>>()

  const compute = async (key: string, input: Values, read: Tables): Promise<Answer> => {
    const { by, of, prefix, limit } = input as never as SummaryInput
    const conditions = whereOf(input)
    const where = by === undefined || prefix === undefined ? conditions : withPrefix(conditions, by, prefix)
    const startMs = performance.now()
    const as_of = timestamp(new Date())
    const answer = { summaries: await tableOf(read).summarize({ where, by, of, limit }), as_of }
    const endMs = performance.now()
    const tookMs = endMs - startMs
    kept.delete(key)
    if (kept.size === MAX_KEPT) kept.clear()
    if (tookMs > CHEAP_MS) {
      const staleUntilMs = startMs + Math.min(tookMs * STALE_FACTOR, MAX_AGE_MS)
      const freshUntilMs = Math.min(endMs + Math.min(tookMs * REUSE_FACTOR, MAX_REUSE_MS), staleUntilMs)
      kept.set(key, { answer, freshUntilMs, staleUntilMs })
    }
    return answer
  }

  return async (input: Values, { read, scopes }: Context): Promise<Answer> => {
    const key = JSON.stringify(input) + keyOf(scopes)
    const known = kept.get(key)
    const nowMs = performance.now()
    if (known !== undefined && nowMs < known.freshUntilMs) return known.answer
    let renewed = running.get(key)
    if (renewed === undefined) {
      renewed = compute(key, input, read).finally(() => running.delete(key))
      running.set(key, renewed)
    }
    if (known === undefined || nowMs > known.staleUntilMs) return renewed
    // A failure is reported to the next caller, who has to wait.
    renewed.catch(() => undefined)
    return known.answer
  }
}

function withPrefix(where: Where<Row>, by: string, prefix: string): Where<Row> {
  const known = where[by]
  const range = typeof known === 'object' && known !== null ? known : known === undefined ? {} : { in: [known] }
  return { ...where, [by]: { ...range, startsWith: prefix } }
}
