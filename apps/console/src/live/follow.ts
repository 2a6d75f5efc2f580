import { type Change, createClient, GoneError } from '@resource/client'
import { onlineManager } from '@tanstack/react-query'
import { options } from '../client.ts'
import { type Connection, INITIAL, useLive } from '../table/live.ts'
import { addChange, readAgain } from './apply.ts'

// A shorter interruption is not shown.
const SHORT_MS = 1_000
const LONG_MS = 15_000

/** From the window that has the stream. */
interface Message {
  connection?: Connection
  cursor?: string | undefined
  change?: Change
  /** Whether changes before the cursor may be missing. */
  isReset?: boolean
}

/**
 * Follows the changes of all records until the signal aborts. Of the windows with the same caller, one has the stream and shares
 * it. When it closes, or another one is visible and it is not, the next window continues from the last cursor: in a hidden
 * window, timers run once a minute.
 */
export function follow(caller: string, signal: AbortSignal): void {
  if (signal.aborted) return
  const name = `resource-changes ${caller}`
  // Without HTTPS, browsers have no locks: each window then has a stream.
  const channel = navigator.locks === undefined ? undefined : new BroadcastChannel(name)
  let cursor: string | undefined
  let isLeader = false
  let again = new AbortController()
  let asked = new AbortController()
  let timers: ReturnType<typeof setTimeout>[] = []

  const receive = ({ connection, cursor: next = cursor, change, isReset }: Message) => {
    if (connection !== undefined) useLive.setState({ connection })
    if (isReset) useLive.setState({ marks: INITIAL.marks, created: INITIAL.created })
    // What this window has read before it knew a position may be older.
    if (cursor === undefined && next !== undefined) readAgain(next)
    else if (isReset) readAgain()
    cursor = next
    if (change !== undefined) addChange(change)
  }
  const send = (message: Message) => {
    if (signal.aborted) return
    receive(message)
    channel?.postMessage(message)
  }

  const interrupted = () => {
    if (timers.length > 0) return
    const later = (connection: Connection, ms: number) => setTimeout(() => send({ connection }), ms)
    timers = [later('reconnecting', SHORT_MS), later('stale', LONG_MS)]
  }
  const clear = () => {
    for (const timer of timers.splice(0)) clearTimeout(timer)
  }
  const settle = (connection: Connection) => {
    clear()
    send({ connection })
  }
  // Without `onUnauthorized`: nobody is asked to log in before a request of the page is refused.
  const client = createClient({
    baseUrl: options.baseUrl,
    onRequest: interrupted,
    onResponse: ({ ok }) => {
      if (ok) settle('live')
    },
  })

  const lead = async () => {
    isLeader = true
    while (isLeader && !signal.aborted) {
      again = new AbortController()
      const onPosition = (position: string) => send({ cursor: position, isReset: cursor === undefined })
      try {
        const ended = AbortSignal.any([signal, again.signal])
        for await (const change of client.changes({ after: cursor, signal: ended, onPosition })) {
          send({ cursor: change.cursor, change })
        }
      } catch (error) {
        if (error instanceof GoneError) cursor = undefined
        else if (!again.signal.aborted) return settle('off')
      }
    }
  }
  const ask = () => {
    if (channel === undefined) return void lead()
    asked = new AbortController()
    // Waiting for the lock ends with an error when the signal aborts.
    navigator.locks.request(name, { signal: AbortSignal.any([signal, asked.signal]) }, lead).catch(() => {})
    channel.postMessage('hello')
  }
  const handOver = () => {
    isLeader = false
    clear()
    again.abort()
  }
  const seen = async () => {
    if (!document.hidden) {
      if (!isLeader) ask()
      // It tries again at once, not only after a pause.
      else if (useLive.getState().connection !== 'live') again.abort()
    } else if (!isLeader) asked.abort()
    else if (channel !== undefined) {
      const { pending = [] } = await navigator.locks.query()
      if (document.hidden && pending.some((lock) => lock.name === name)) handOver()
    }
  }

  channel?.addEventListener('message', ({ data }: MessageEvent<Message | 'hello'>) => {
    if (data !== 'hello') return receive(data)
    if (!isLeader) return
    channel.postMessage({ connection: useLive.getState().connection, cursor } satisfies Message)
    if (document.hidden) handOver()
  })
  const stop = onlineManager.subscribe((isOnline) => {
    if (isLeader && isOnline) again.abort()
    else if (isLeader) interrupted()
  })
  document.addEventListener('visibilitychange', seen, { signal })
  if (!document.hidden) ask()

  signal.addEventListener('abort', () => {
    settle('off')
    stop()
    channel?.close()
    useLive.setState(INITIAL)
  })
}
