import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

/** A file operation of the service or an HTTP response it sent. */
export type Event =
  | { kind: 'write'; path: string; offset: number; data: Buffer }
  | { kind: 'truncate'; path: string; size: number }
  | { kind: 'create'; path: string }
  | { kind: 'unlink'; path: string }
  /** `id` links the start of a sync to its end. */
  | { kind: 'sync begins'; path: string; id: string }
  | { kind: 'sync ends'; path: string; id: string; isDone: boolean }
  | { kind: 'response'; text: string }

/** An event with its time in seconds by the clock of the machine, which may step. */
export type Timed = Event & { time: number }

const CALLS = 'pwrite64,write,writev,ftruncate,fdatasync,fsync,openat,unlink,rename'

/**
 * The strace command that runs another command as its child and records its system calls, including those of threads and
 * child processes. It exits after the last of them.
 *
 * @param faults failing calls, in the syntax of strace's `inject`
 */
export function traced(file: string, faults: string[] = []): string[] {
  const injections = faults.flatMap((fault) => ['-e', `inject=${fault}`])
  const flags = ['-f', '--seccomp-bpf', '-ttt', '-T', '-y', '-xx', '-s', '1100000', '-o', file]
  return ['strace', ...flags, '-e', `trace=${CALLS}`, ...injections]
}

const LINE = /^(\d+) +([\d.]+) (.*?)(?: <([\d.]+)>)?$/s
const CALL = /^(\w+)\((.*?)(?: <unfinished \.\.\.>|\) += (-?\d+).*)$/s
const RESUMED = /^<\.\.\. (\w+) resumed>(.*)\) += (-?\d+)/s
const DESCRIPTOR = /^\d+<((?:\\x[\da-f]{2})*)>(?!\(deleted\))/
const TEXT = /"((?:\\x[\da-f]{2})*)"/g

/**
 * Reads the events of a trace written by {@link traced} that concern files in `folder`, in their order. Skips `-shm` files: SQLite
 * rebuilds them after a crash.
 */
export async function* readTrace(file: string, folder: string): AsyncGenerator<Timed> {
  const pending = new Map<string, string>()
  for await (const line of createInterface({ input: createReadStream(file, 'latin1') })) {
    const [, thread = '', at, rest = '', lasted = 0] = LINE.exec(line) ?? []
    const time = Number(at)
    const [, resumed, end, outcome] = RESUMED.exec(rest) ?? []
    if (resumed !== undefined) {
      const given = `${pending.get(thread)}${end}`
      for (const event of ended(given, resumed, Number(outcome), thread, folder)) yield { ...event, time }
      continue
    }
    const [, name, given = '', result] = CALL.exec(rest) ?? []
    if (name === undefined) continue
    for (const event of begun(given, name, thread, folder)) yield { ...event, time }
    if (result === undefined) pending.set(thread, given)
    else {
      const done = time + Number(lasted)
      for (const event of ended(given, name, Number(result), thread, folder)) yield { ...event, time: done }
    }
  }
}

// A response may reach its caller as soon as the write call starts. A sync covers only writes made before it started.
function* begun(given: string, name: string, thread: string, folder: string): Generator<Event> {
  if (name === 'write' || name === 'writev') {
    const text = texts(given).map(String).join('')
    if (text.startsWith('HTTP/1.1 ')) yield { kind: 'response', text }
  }
  const path = pathOf(given)
  if (name.endsWith('sync') && isTracked(path, folder)) yield { kind: 'sync begins', path, id: thread }
}

function* ended(given: string, name: string, result: number, thread: string, folder: string): Generator<Event> {
  const path = name === 'unlink' || name === 'openat' ? String(texts(given)[0]) : pathOf(given)
  if (!isTracked(path, folder)) return
  if (name.endsWith('sync')) yield { kind: 'sync ends', path, id: thread, isDone: result === 0 }
  if (result < 0) return
  if (name === 'pwrite64') {
    const offset = Number(/, (\d+)$/.exec(given)?.[1])
    yield { kind: 'write', path, offset, data: (texts(given)[0] as Buffer).subarray(0, result) }
  } else if (name === 'ftruncate') yield { kind: 'truncate', path, size: Number(/, (\d+)$/.exec(given)?.[1]) }
  else if (name === 'openat' && given.includes('O_CREAT')) yield { kind: 'create', path }
  else if (name === 'unlink') yield { kind: 'unlink', path }
  else if (name === 'rename') throw new Error(`cannot replay a rename of ${path}`)
}

function pathOf(given: string): string {
  return String(bytes(DESCRIPTOR.exec(given)?.[1] ?? ''))
}

function texts(given: string): Buffer[] {
  return Array.from(given.matchAll(TEXT), ([, text = '']) => bytes(text))
}

function bytes(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex')
}

function isTracked(path: string, folder: string): boolean {
  return (path === folder || path.startsWith(`${folder}/`)) && !path.endsWith('-shm')
}
