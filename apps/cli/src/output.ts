import { once } from 'node:events'
import type { Failure } from './failures.ts'
import { printable } from './printable.ts'

/** How stderr is used: set once, from the options. */
const mode = { json: false, quiet: false }

export function setOutputMode(options: { json: boolean; quiet: boolean }): void {
  Object.assign(mode, options)
}

/** Whether stderr shows progress and remarks. With `--json` it has only JSON objects. */
export function isTalkative(): boolean {
  return !mode.json && !mode.quiet
}

/** Writes to stdout and waits while its buffer is full. */
export async function write(text: string): Promise<void> {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** Writes a remark to stderr, which keeps stdout free for results. */
export function log(line: string): void {
  // On a terminal, the line of the progress bar is replaced.
  if (isTalkative()) process.stderr.write(`${process.stderr.isTTY ? '\r\x1b[K' : ''}${printable(line)}\n`)
}

/** Writes facts about a complete result to stderr: lines, or one JSON object. */
export function remark(lines: string[], facts: object): void {
  if (mode.quiet || lines.length === 0) return
  process.stderr.write(mode.json ? `${JSON.stringify(facts)}\n` : `${printable(lines.join('\n'))}\n`)
}

/** Writes the error of the command to stderr: its message, or one JSON object. */
export function reportFailure(failure: Failure): void {
  if (mode.json) process.stderr.write(`${JSON.stringify(failure)}\n`)
  else if (failure.message !== '') process.stderr.write(`${printable(failure.message)}\n`)
}
