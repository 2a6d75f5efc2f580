import type { Logger } from 'pino'

// Bounds memory. Further kinds in the same window share one.
const MAX_KINDS = 1_000
const OTHERS = 'others'

interface Kind {
  facts: object
  count: number
}

/**
 * Logs lines that callers can cause in any number. The first line of a kind is logged; after that only the number of its
 * lines, once per window, until a window passes without one.
 *
 * @param summary the message of the lines with numbers
 */
export function sampledLog(log: Logger, level: 'info' | 'warn', windowMs: number, summary: string) {
  const kinds = new Map<string, Kind>()
  let isTimed = false
  const startWindow = () => void setTimeout(endWindow, windowMs).unref()
  const endWindow = () => {
    for (const [kind, state] of kinds) {
      if (state.count === 0) kinds.delete(kind)
      else log[level]({ ...state.facts, count: state.count }, summary)
      state.count = 0
    }
    isTimed = kinds.size > 0
    if (isTimed) startWindow()
  }
  /** @param facts what the lines of a kind have in common */
  return (kind: string, facts: object, line: object, message: string): void => {
    const isKnown = kinds.has(kind) || kinds.size < MAX_KINDS
    const known = kinds.get(isKnown ? kind : OTHERS)
    if (known !== undefined) {
      known.count++
      return
    }
    kinds.set(isKnown ? kind : OTHERS, { facts: isKnown ? facts : {}, count: 0 })
    log[level](line, message)
    if (!isTimed) startWindow()
    isTimed = true
  }
}
