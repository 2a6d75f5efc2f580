import { type Logger, pino } from 'pino'
import { escaped, isTerminal, readable } from './log-text.ts'

const FLUSH_BYTES = 16_384
const FLUSH_MS = 100
// While stdout accepts no data, such as a file on a full disk.
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024

/**
 * Creates the service's log on stdout: JSON, or text on a terminal. Lines are buffered for at most 100 ms and flushed when the process ends, because one
 * write per line would cost more than a request. SonicBoom's `minLength` would measure the whole buffer for each line, which
 * takes 2 µs more.
 *
 * @param level the lowest level that is logged: `info`
 */
export function createLog(level: string): Logger {
  let buffer = ''
  const flush = () => {
    if (buffer !== '') stdout.write(buffer)
    buffer = ''
  }
  // A log that cannot be written must not end the service. Buffered lines are written with the next ones.
  let isBroken = false
  const finish = () => {
    flush()
    // SonicBoom would retry forever.
    if (isBroken) Object.assign(stdout, { flush: () => undefined, flushSync: () => undefined })
  }
  // Registered before the destination's own listeners, which flush it.
  process.on('beforeExit', finish).on('exit', finish)
  const stdout = pino.destination({ sync: false, maxLength: MAX_BUFFERED_BYTES })
  stdout.on('error', () => (isBroken = true))
  stdout.on('write', () => (isBroken = false))
  setInterval(flush, FLUSH_MS).unref()
  const write = (line: string) => {
    buffer += isTerminal ? readable(line) : escaped(line)
    if (buffer.length >= FLUSH_BYTES) flush()
  }
  return pino({ level, formatters: { log: shortened } }, { write })
}

// A caller could otherwise fill the disk with long paths.
const MAX_LENGTH = 256

/** Cuts long texts of a log line, and appends their length. Errors keep their stack. */
export function shortened(line: Record<string, unknown>): Record<string, unknown> {
  for (const name in line) {
    const value = line[name]
    if (typeof value === 'string' && value.length > MAX_LENGTH) {
      line[name] = `${value.slice(0, MAX_LENGTH)}… (${value.length} characters)`
    }
  }
  return line
}
