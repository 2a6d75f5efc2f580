import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { invalid } from './failures.ts'

/** The state from which a later run resumes: a JSON file next to the data, replaced atomically, readable by its owner. */
export function openStateFile<State extends object>(path: string) {
  return {
    path,
    read(): State | undefined {
      let text: string
      try {
        text = readFileSync(path, 'utf8')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
        throw error
      }
      try {
        return JSON.parse(text) as State
      } catch {
        throw invalid(`${path}: is not a valid progress file`)
      }
    },
    write(state: State): void {
      writeFileSync(`${path}.new`, `${JSON.stringify(state)}\n`, { mode: 0o600 })
      renameSync(`${path}.new`, path)
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
