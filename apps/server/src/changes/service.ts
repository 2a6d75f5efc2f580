import type { ApiError } from '@resource/openapi'
import { queueKey } from '../access/caller.ts'
import type { Context, Services } from '../store/context.ts'
import { type Change, type Entry, type Filter, filterOf } from './entry.ts'
import { EventStream } from './event-stream.ts'
import { type Followers, refusal } from './followers.ts'
import { Frames } from './frames.ts'
import { cursorOf, type Position, positionOf } from './position.ts'

/** How many pages of the log one answer examines, if few of its entries match. */
const MAX_PAGES = 20
/** The most changes that are read in one turn. */
const MAX_IN_TURN = 200

/** Follows the changes of the records. */
export function changeService(followers: Followers): Services['changes'] {
  const { tailer } = followers
  const frames = new Frames(tailer)
  const find = async (position: Position, filter: Filter, limit: number, context: Context) => {
    const caller = queueKey(context)
    const entries: Entry[] = []
    let to = position
    for (let page = 0; page < MAX_PAGES && entries.length < limit && !context.isGone?.(); page++) {
      const found = await tailer.inTurn(to, filter, Math.min(limit - entries.length, MAX_IN_TURN), caller)
      if (found.to.id === to.id) break
      entries.push(...found.entries)
      to = found.to
    }
    return { entries, to }
  }
  const nextChange = (filter: Filter, context: Context, maxMs: number) =>
    new Promise<void>((resolve, reject) => {
      const end = (error?: ApiError) => {
        clearTimeout(timeout)
        leave()
        if (error === undefined) resolve()
        else reject(error)
      }
      const leave = followers.enter({ filter, wake: () => end(), tick: () => {}, end }, context)
      const timeout = setTimeout(end, maxMs)
    })

  return {
    list: async (input, context, _shown, open) => {
      const filter = filterOf(input, context)
      const cursor = input.last_event_id ?? input.after
      if (cursor === undefined || open === undefined || tailer.head === undefined) await tailer.refresh()
      const from = cursor === undefined ? tailer.head : positionOf(cursor)
      if (from === undefined) throw refusal(503, 'A transaction on the database is open for long; try again')
      await tailer.assertKept(from)
      if (open !== undefined) {
        const stream = new EventStream(tailer, frames, from, filter, queueKey(context), () => leave())
        const leave = followers.enter(stream, context)
        open(stream)
        return { changes: [], cursor: cursorOf(from) }
      }
      const endMs = performance.now() + input.wait * 1000
      let found = await find(from, filter, input.limit, context)
      while (found.entries.length === 0 && !context.isGone?.()) {
        const leftMs = endMs - performance.now()
        if (leftMs <= 0 || followers.isClosed) break
        if (found.to.id >= (tailer.head?.id ?? 0)) await nextChange(filter, context, leftMs)
        found = await find(found.to, filter, input.limit, context)
      }
      return { changes: found.entries.map(({ change }) => change as Change), cursor: cursorOf(found.to) }
    },
  }
}
