import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { stateFolder } from '../environment.ts'
import { jsonFile } from '../json-file.ts'

const MAX_ENTRIES = 1000

/** A complete import. */
export interface ImportRecord {
  /** Time of the end, in ISO 8601. */
  at: string
  file: string
  imported: number
}

/** The files that were imported completely, by service, type and content. */
export function importHistory(service: string, type: string, digest: string) {
  const file = jsonFile<Record<string, ImportRecord>>(join(stateFolder(), 'imports.json'))
  const id = createHash('sha256')
    .update(JSON.stringify([service, type, digest]))
    .digest('hex')
  return {
    find: (): ImportRecord | undefined => file.read()?.[id],
    add(record: ImportRecord): void {
      const { [id]: _, ...others } = file.read() ?? {}
      const kept = Object.entries(others).slice(1 - MAX_ENTRIES)
      file.write({ ...Object.fromEntries(kept), [id]: record })
    },
  }
}
