import { create } from 'zustand'
import { onLogOut } from './log-out.ts'

/** What is known of long work when it begins. */
interface Plan {
  /** Names it: `books.csv`. */
  title: string
  /** The page with its details. Without it, a dialog shows them. */
  href?: string
  /** Stops it. What is done stays done. */
  stop?: () => void
  /** What stopping means, for the question before it. */
  consequence?: string
  /** Whether its own dialog shows the progress. */
  isCovered?: boolean
}

/** Work that takes long: an import, an export, a change of many records. */
export interface Work extends Plan {
  id: number
  done: number
  total: number
  /** Estimated from the recent rate; absent if that is unknown. */
  leftMs?: number | undefined
  /** Why it does not go on. */
  obstacle?: string | undefined
}

// Long enough for the slowest request, short enough to follow a change of the rate.
const RECENT_MS = 20_000
const SHORTEST_MS = 1_000
const MINUTE_MS = 60_000

let lastId = 0

/** The work in progress, the oldest first. */
export const useWork = create<readonly Work[]>(() => [])

// The browser asks before it closes the page, which would stop the work.
useWork.subscribe((works) => {
  if (works.length > 0) window.addEventListener('beforeunload', ask)
  else window.removeEventListener('beforeunload', ask)
})

onLogOut(() => {
  for (const { stop } of useWork.getState()) stop?.()
  useWork.setState([], true)
})

/** Shows the progress of long work in every view until it ends. */
export function beginWork(plan: Plan) {
  const id = ++lastId
  const recent: { ms: number; done: number }[] = []
  const change = (changes: Partial<Work>) =>
    useWork.setState((works) => works.map((work) => (work.id === id ? { ...work, ...changes } : work)), true)
  useWork.setState((works) => [...works, { ...plan, id, done: 0, total: 0 }], true)
  return {
    update: (done: number, total: number) => {
      const ms = performance.now()
      recent.push({ ms, done })
      while (recent.length > 2 && ms - (recent[0]?.ms ?? 0) > RECENT_MS) recent.shift()
      change({ done, total, leftMs: leftOf(recent, total), obstacle: undefined })
    },
    /** @param obstacle why it waits; undefined once it goes on */
    wait: (obstacle: string | undefined) => change({ obstacle }),
    /** @param isCovered whether its own dialog shows the progress */
    cover: (isCovered: boolean) => change({ isCovered }),
    end: () => useWork.setState((works) => works.filter((work) => work.id !== id), true),
  }
}

/** `62 %, 2 min left`. */
export function describeWork({ done, total, leftMs, obstacle }: Work): string {
  const percent = `${total === 0 ? 0 : Math.floor((100 * done) / total)} %`
  const rest = obstacle ?? (leftMs === undefined ? undefined : timeLeft(leftMs))
  return rest === undefined ? percent : `${percent}, ${rest}`
}

/** `2 min left`, with few different values, so that it is quiet. */
export function timeLeft(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.max(5, 5 * Math.ceil(ms / 5_000))} s left`
  const minutes = Math.round(ms / MINUTE_MS)
  return minutes < 90 ? `${minutes} min left` : `${Math.round(minutes / 60)} h left`
}

function leftOf(recent: { ms: number; done: number }[], total: number): number | undefined {
  const [first, last] = [recent[0], recent.at(-1)]
  if (first === undefined || last === undefined || last.done <= first.done) return undefined
  const ms = last.ms - first.ms
  return ms < SHORTEST_MS ? undefined : ((total - last.done) * ms) / (last.done - first.done)
}

function ask(event: BeforeUnloadEvent): void {
  event.preventDefault()
}
