import type { Logger } from 'pino'

export interface UnexpectedOptions {
  /** Counts a rejection or an exception. */
  count?: () => void
  /** Finishes open requests and closes the service. */
  stop: () => Promise<void>
  /** After this time in ms the process exits, even if `stop` has not settled. */
  limitMs: number
}

/**
 * Handles errors that no other handler catches. After a rejection, the process logs it and continues. An uncaught exception
 * leaves the process in an unknown state: it logs the exception, calls `stop` and exits with code 1.
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
