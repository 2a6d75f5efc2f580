import type { Logger } from 'pino'

/** Whether a person reads the output. Programs get JSON. */
export const isTerminal = process.stdout.isTTY === true

/** Whether the process tells a person where it serves and what to do next, in place of lines of the log. */
export function greets(log: Logger): boolean {
  return isTerminal && log.isLevelEnabled('info')
}

const LEVELS: Record<number, string> = { 10: 'trace ', 20: 'debug ', 40: 'warning: ', 50: 'error: ', 60: 'error: ' }
const PLAIN = /^[\x21-\x7e]+$/

/**
 * A line of the log for a person: `10:31:04 GET /items 200, 1.2 ms, nightly import`.
 *
 * @param line JSON
 */
export function readable(line: string): string {
  const { level, time, msg, pid: _, hostname: __, err, ...facts } = JSON.parse(line) as Record<string, unknown>
  const clock = new Date(Number(time)).toTimeString().slice(0, 8)
  const text =
    msg === 'request' ? requestText(facts) : [msg, ...Object.entries(facts).map(factText)].map(String).join(' ')
  const { stack } = (err ?? {}) as { stack?: unknown }
  const lines = [
    `${clock} ${LEVELS[Number(level)] ?? ''}${text}`,
    ...(stack === undefined ? [] : String(stack).split('\n')),
  ]
  // Data may hold control characters, which JSON escapes.
  return lines.map((part) => `${escaped(JSON.stringify(part).slice(1, -1).replaceAll('\\"', '"'))}\n`).join('')
}

function requestText({ method, path, status, ms, caller, reason }: Record<string, unknown>): string {
  const facts = [
    `${method} ${path} ${status ?? 'aborted'}`,
    `${ms} ms`,
    caller === 'anonymous' ? undefined : caller,
    reason,
  ]
  return facts.filter((fact) => fact !== undefined).join(', ')
}

function factText([name, value]: [string, unknown]): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return `${name}=${PLAIN.test(text) ? text : JSON.stringify(text)}`
}

// JSON leaves them as they are. On a terminal they could hide parts of a line or change the direction of its text.
const HIDDEN = /[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

/** Escapes control characters and invisible ones in a line of JSON. */
export function escaped(line: string): string {
  return line.replace(HIDDEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
