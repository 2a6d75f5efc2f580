import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'

/** What a process asked the system to do with files, or told a caller, in the order of the calls. */
export type Event =
  | { kind: 'write'; path: string; offset: number; data: Buffer }
  | { kind: 'truncate'; path: string; size: number }
  | { kind: 'create'; path: string }
  | { kind: 'unlink'; path: string }
  /** `id` tells the beginning of a sync from that of others. */
  | { kind: 'sync begins'; path: string; id: string }
  | { kind: 'sync ends'; path: string; id: string; isDone: boolean }
  | { kind: 'answer'; text: string }

/** When it happened, in seconds, with the next event of the same trace later or at the same time. */
export type Timed = Event & { time: number }

const CALLS = 'pwrite64,write,writev,ftruncate,fdatasync,fsync,openat,unlink,rename'

/**
 * The command that runs another one as its child and writes down its calls, those of its threads and children too. It ends
 * with the last of them.
 *
 * @param faults calls that fail, as strace's `inject` takes them
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

/** Reads what {@link traced} wrote, of the files in a folder. Files that map memory, `-shm`, do not survive anyway. */
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

// An answer may reach its caller as soon as the call begins, and a sync covers only what was written before it began.
function* begun(given: string, name: string, thread: string, folder: string): Generator<Event> {
  if (name === 'write' || name === 'writev') {
    const text = texts(given).map(String).join('')
    if (text.startsWith('HTTP/1.1 ')) yield { kind: 'answer', text }
  }
  const path = pathOf(given)
  if (name.endsWith('sync') && isMeant(path, folder)) yield { kind: 'sync begins', path, id: thread }
}

function* ended(given: string, name: string, result: number, thread: string, folder: string): Generator<Event> {
  const path = name === 'unlink' || name === 'openat' ? String(texts(given)[0]) : pathOf(given)
  if (!isMeant(path, folder)) return
  if (name.endsWith('sync')) yield { kind: 'sync ends', path, id: thread, isDone: result === 0 }
  if (result < 0) return
  if (name === 'pwrite64') {
    const offset = Number(/, (\d+)$/.exec(given)?.[1])
    yield { kind: 'write', path, offset, data: (texts(given)[0] as Buffer).subarray(0, result) }
  } else if (name === 'ftruncate') yield { kind: 'truncate', path, size: Number(/, (\d+)$/.exec(given)?.[1]) }
  else if (name === 'openat' && given.includes('O_CREAT')) yield { kind: 'create', path }
  else if (name === 'unlink') yield { kind: 'unlink', path }
  else if (name === 'rename') throw new Error(`A rename of ${path} is not replayed.`)
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

function isMeant(path: string, folder: string): boolean {
  return (path === folder || path.startsWith(`${folder}/`)) && !path.endsWith('-shm')
}
