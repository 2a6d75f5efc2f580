import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { invalid } from './failures.ts'

/** A JSON file, replaced atomically, readable by its owner only. */
export function jsonFile<Value extends object>(path: string) {
  // Another process may write the same file.
  const temporary = `${path}.${process.pid}.new`
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
      writeFileSync(temporary, textOf(value), { mode: 0o600 })
      renameSync(temporary, path)
    },
    /** @returns whether the file was created; false if it exists */
    create(value: Value): boolean {
      writeFileSync(temporary, textOf(value), { mode: 0o600 })
      try {
        // Another process finds the whole file or none.
        linkSync(temporary, path)
        return true
      } catch (error) {
        if (codeOf(error) === 'EEXIST') return false
        // A file system without links. Another process could find part of the file.
        return createInPlace(path, textOf(value))
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

function textOf(value: object): string {
  return `${JSON.stringify(value)}\n`
}

function createInPlace(path: string, text: string): boolean {
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
