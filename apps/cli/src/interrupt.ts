import { tell } from './output.ts'

// A terminal and the runner above this process (pnpm) may both pass on one Ctrl-C.
const SAME_PRESS_MS = 300

/** Ctrl-C as a request: the first lets the piece of work in hand be finished, the second ends it by `signal`. */
export function onInterrupt() {
  const abort = new AbortController()
  let first = 0
  const press = () => {
    if (first === 0) {
      first = Date.now()
      tell('\nStopping after what is in flight; Ctrl-C again to stop at once.')
    } else if (Date.now() - first > SAME_PRESS_MS) abort.abort()
  }
  process.on('SIGINT', press).on('SIGTERM', press)
  return {
    get requested() {
      return first > 0
    },
    signal: abort.signal,
    [Symbol.dispose]: () => void process.off('SIGINT', press).off('SIGTERM', press),
  }
}
