import type { BrowserContext, Page } from 'playwright-core'

// How long the console shows a mark and a notice, and how long its client waits for an answer, in ms. On a slow machine such a
// time is over before a test looks, or before it resumes a paused call.
const HELD_MS = [2_500, 10_000, 20_000, 30_000]

/** Makes the timers of these delays on all pages wait for {@link pass}. */
export async function holdTimers(context: BrowserContext): Promise<void> {
  await context.addInitScript(install, HELD_MS)
}

/** Makes the timers of a page that start from now on and have this delay wait for {@link pass}. */
export async function hold(page: Page, ms: number): Promise<void> {
  await page.evaluate(`heldTimers.hold(${ms})`)
}

/** Ends the timers of a page that wait and have this delay. Later ones run as usual. */
export async function pass(page: Page, ms: number): Promise<void> {
  await page.evaluate(`heldTimers.pass(${ms})`)
}

/** Runs in the page. */
function install(delays: number[]) {
  const { setTimeout: start, clearTimeout: stop } = globalThis
  const held = new Set<number | undefined>(delays)
  const waiting = new Map<number, { ms: number | undefined; act: () => void }>()
  let lastId = 0
  const setHeld = (act: (...values: unknown[]) => void, ms?: number, ...values: unknown[]) => {
    if (!held.has(ms)) return start(act, ms, ...values)
    // No timer of the browser has a negative number.
    waiting.set(--lastId, { ms, act: () => act(...values) })
    return lastId
  }
  const clearHeld = (id?: number) => {
    if (id === undefined || !waiting.delete(id)) stop(id)
  }
  const hold = (ms: number) => void held.add(ms)
  const pass = (ms: number) => {
    held.delete(ms)
    for (const [id, timer] of waiting) if (timer.ms === ms && waiting.delete(id)) timer.act()
  }
  Object.assign(globalThis, { setTimeout: setHeld, clearTimeout: clearHeld, heldTimers: { hold, pass } })
}
