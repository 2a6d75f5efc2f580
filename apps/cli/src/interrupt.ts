import { log } from './output.ts'

// The terminal and the parent runner (pnpm) may both forward the same Ctrl-C.
const SAME_PRESS_MS = 300

const STOPPING = 'Stopping after the current step. Press Ctrl-C again to stop now.'

/** Handles Ctrl-C: the first press lets the current step finish and ends any wait, the second aborts the step. */
export function onInterrupt(remark = STOPPING) {
  const stop = new AbortController()
  const abort = new AbortController()
  /** The first press, by `performance.now()`; 0 before it. */
  let first = 0
  const press = () => {
    if (!stop.signal.aborted) {
      first = performance.now()
      if (remark !== '') log(remark)
      stop.abort()
    } else if (performance.now() - first > SAME_PRESS_MS) abort.abort()
  }
  process.on('SIGINT', press).on('SIGTERM', press)
  return {
    get requested() {
      return stop.signal.aborted
    },
    /** Aborted by the first press. */
    stop: stop.signal,
    /** Aborted by the second press. */
    signal: abort.signal,
    [Symbol.dispose]: () => void process.off('SIGINT', press).off('SIGTERM', press),
  }
}
