import { type Logger, pino } from 'pino'

const AT_LEAST = 16_384
const AT_LATEST_MS = 100
// While stdout takes nothing, such as a file on a full disk.
const MOST_WAITING = 16 * 1024 * 1024

/**
 * The service's log, on stdout. Lines are written together, at the latest after a tenth of a second and when the process
 * ends: a write for each would cost more than what it tells of. SonicBoom's own `minLength` measures all that waits with
 * each line, 2 µs more.
 *
 * @param level the least that is written: `info`
 */
export function createLog(level: string): Logger {
  let waiting = ''
  const flush = () => {
    if (waiting !== '') stdout.write(waiting)
    waiting = ''
  }
  // A log that cannot be written must not end the service. What waits is written with the next lines.
  let isBroken = false
  const finish = () => {
    flush()
    // SonicBoom would try for ever.
    if (isBroken) Object.assign(stdout, { flush: () => undefined, flushSync: () => undefined })
  }
  // Before the destination's own listeners, which write out what it was given.
  process.on('beforeExit', finish).on('exit', finish)
  const stdout = pino.destination({ sync: false, maxLength: MOST_WAITING })
  stdout.on('error', () => (isBroken = true))
  stdout.on('write', () => (isBroken = false))
  setInterval(flush, AT_LATEST_MS).unref()
  const write = (line: string) => {
    waiting += line
    if (waiting.length >= AT_LEAST) flush()
  }
  return pino({ level }, { write })
}
