import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '@resource/openapi'
import type { Services } from '../store/context.ts'
import { type Change, type Entry, type Filter, filterOf } from './entry.ts'
import { assertKept, cursorOf, type Position, positionOf } from './position.ts'
import type { Tailer } from './tailer.ts'

/** How many pages of the log one answer examines, if few of its entries are wanted. */
const MAX_PAGES = 20

/** Follows the changes of the records. */
export function changeService(tailer: Tailer): Services['changes'] {
  const find = async (position: Position, filter: Filter, limit: number) => {
    const entries: Entry[] = []
    let to = position
    for (let page = 0; page < MAX_PAGES && entries.length < limit; page++) {
      const found = await tailer.after(to, filter, limit - entries.length)
      if (found.to.id === to.id) break
      entries.push(...found.entries)
      to = found.to
    }
    return { entries, to }
  }

  return {
    list: async (input, { caller, read, isGone }) => {
      const filter = filterOf(input, caller)
      await tailer.refresh()
      const from = input.after === undefined ? tailer.head : positionOf(input.after)
      if (from === undefined) throw NOT_SETTLED
      await assertKept(read, from)
      const endMs = performance.now() + input.wait * 1000
      let found = await find(from, filter, input.limit)
      while (found.entries.length === 0 && performance.now() < endMs && !isGone?.()) {
        if (found.to.id >= (tailer.head?.id ?? 0)) await nextOf(tailer, endMs - performance.now())
        found = await find(found.to, filter, input.limit)
      }
      return { changes: found.entries.map(({ change }) => change as Change), cursor: cursorOf(found.to) }
    },
  }
}

/** Waits for the next entries, at most for some time. */
async function nextOf(tailer: Tailer, maxMs: number): Promise<void> {
  const ended = new AbortController()
  const leave = tailer.follow(() => ended.abort())
  await sleep(maxMs, undefined, { signal: ended.signal }).catch(() => {})
  leave()
}

const NOT_SETTLED = new ApiError(503, 'A transaction on the database is open for long; try again', {
  headers: { 'Retry-After': '1' },
})
