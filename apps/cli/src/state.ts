import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { invalid } from './failures.ts'

/** What a later run needs to go on: a small JSON file beside the data, replaced as a whole, readable by its owner. */
export function stateFile<State extends object>(path: string) {
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
        throw invalid(`${path} is no progress file of this program`)
      }
    },
    write(state: State): void {
      writeFileSync(`${path}.new`, `${JSON.stringify(state)}\n`, { mode: 0o600 })
      renameSync(`${path}.new`, path)
    },
    remove: () => rmSync(path, { force: true }),
  }
}

/** @throws Failure that names the first value in which a run that goes on differs from the one that broke off */
export function checkSame<State extends object>(path: string, kept: State, asked: Partial<State>): void {
  for (const [name, value] of Object.entries(asked)) {
    const before = kept[name as keyof State]
    if (JSON.stringify(before) === JSON.stringify(value)) continue
    throw invalid(
      `${path} is of a run with another ${name} (${JSON.stringify(before)}, now ${JSON.stringify(value)}): ` +
        'repeat that one, or begin anew with --restart',
    )
  }
}
