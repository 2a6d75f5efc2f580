import { pino } from 'pino'

const FLUSH_MS = 100

/** Writes to stdout in batches of lines, like the service. */
export const log = pino(pino.destination({ sync: false, minLength: 4096 }))
setInterval(() => log.flush(), FLUSH_MS).unref()
