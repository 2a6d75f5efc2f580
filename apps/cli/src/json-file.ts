import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { invalid } from './failures.ts'

/** A JSON file, replaced atomically, readable by its owner only. */
export function jsonFile<Value extends object>(path: string) {
  // Another process may write the same file.
  const temporary = `${path}.${process.pid}.new`
  let isFirst = true
  const writeTemporary = (value: Value) => {
    if (isFirst) removeAbandoned(path)
    isFirst = false
    writeFileSync(temporary, `${JSON.stringify(value)}\n`, { mode: 0o600 })
  }
  return {
    path,
    /** @returns undefined if the file does not exist */
    read(): Value | undefined {
      let text: string
      try {
        text = readFileSync(path, 'utf8')
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return undefined
        throw error
      }
      try {
        return JSON.parse(text) as Value
      } catch {
        throw invalid(`${path}: is not valid JSON. Correct or remove it`)
      }
    },
    write(value: Value): void {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      writeTemporary(value)
      renameSync(temporary, path)
    },
    /** @returns whether the file was created; false if it exists */
    create(value: Value): boolean {
      writeTemporary(value)
      try {
        // Another process finds the whole file or none.
        linkSync(temporary, path)
        return true
      } catch (error) {
        if (codeOf(error) === 'EEXIST') return false
        // A file system without links. Another process could find part of the file.
        return createInPlace(path, readFileSync(temporary))
      } finally {
        rmSync(temporary)
      }
    },
    remove: () => rmSync(path, { force: true }),
  }
}

/** @throws Failure that names the first option that differs from the interrupted run */
export function checkSame<State extends object>(path: string, saved: State, requested: Partial<State>): void {
  for (const [name, value] of Object.entries(requested)) {
    const before = saved[name as keyof State]
    if (JSON.stringify(before) === JSON.stringify(value)) continue
    throw invalid(
      `${path} belongs to a run with a different ${name} (${JSON.stringify(before)}, now ${JSON.stringify(value)}): ` +
        'repeat that run, or use --restart to start over',
    )
  }
}

/** Removes the temporary files of processes that were killed. */
function removeAbandoned(path: string): void {
  const start = `${basename(path)}.`
  for (const name of readdirSync(dirname(path))) {
    const pid = name.startsWith(start) && /^(\d+)\.new$/.exec(name.slice(start.length))?.[1]
    if (pid && !isRunning(Number(pid))) rmSync(join(dirname(path), name), { force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) !== 'ESRCH'
  }
}

function createInPlace(path: string, text: Buffer): boolean {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
