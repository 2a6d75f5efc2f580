import type { Logger } from 'pino'

export interface UnexpectedOptions {
  /** Counts a rejection or an exception. */
  count?: () => void
  /** Finishes the work at hand. */
  stop: () => Promise<void>
  /** The process ends after so many milliseconds, even if `stop` has not settled. */
  limitMs: number
}

/**
 * The last line of defense, for what no handler catches. A rejection is logged, and the process goes on. An exception
 * leaves the process in an unknown state: it is logged, and the process finishes its work and ends with code 1.
 */
export function catchUnexpected(log: Logger, { count, stop, limitMs }: UnexpectedOptions): void {
  let isEnding = false
  const end = () => process.exit(1)
  process.on('unhandledRejection', (err) => {
    count?.()
    log.error({ err }, 'unexpected rejection')
  })
  process.on('uncaughtException', (err) => {
    count?.()
    log.fatal({ err }, 'uncaught exception')
    if (isEnding) return
    isEnding = true
    setTimeout(end, limitMs)
    stop().then(end, end)
  })
}
