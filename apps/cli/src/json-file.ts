import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { invalid } from './failures.ts'

/** A JSON file, replaced atomically, readable by its owner only. */
export function jsonFile<Value extends object>(path: string) {
  return {
    path,
    /** @returns undefined if the file does not exist */
    read(): Value | undefined {
      let text: string
      try {
        text = readFileSync(path, 'utf8')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
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
      // Another process may write the same file.
      const temporary = `${path}.${process.pid}.new`
      writeFileSync(temporary, `${JSON.stringify(value)}\n`, { mode: 0o600 })
      renameSync(temporary, path)
    },
    /** @returns whether the file was created; false if it exists */
    create(value: Value): boolean {
      try {
        writeFileSync(path, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: 'wx' })
        return true
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
        throw error
      }
    },
    remove: () => rmSync(path, { force: true }),
  }
}
