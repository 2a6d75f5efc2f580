import { queryOptions } from '@tanstack/react-query'
import { createStore, delMany, get, set, setMany } from 'idb-keyval'
import { resources } from '../resources/index.ts'
import type { Noun } from '../resources/resource.ts'
import type { Import, Progress } from './running.ts'

/** An import that is not finished. */
export interface Saved {
  running: Import
  progress: Progress
}

/** A file that was imported. */
export interface Imported {
  digest: string
  at: number
  created: number
  updated: number
}

const MAX_REMEMBERED = 100

// Opened on first use. Browsers that block storage make every call fail; an import then works, but cannot be resumed.
let database: ReturnType<typeof createStore> | undefined
const store = () => {
  database ??= createStore('resource-console', 'imports')
  return database
}

// Imports for which the storage is blocked or full: other tabs do not know of them.
const unsaved = new Set<string>()

const importKey = (noun: Noun) => `${noun}/import`
// Apart from the import, whose many rows would be read at every progress.
const idKey = (noun: Noun) => `${noun}/id`
const progressKey = (noun: Noun) => `${noun}/progress`
const importedKey = (noun: Noun) => `${noun}/imported`

/** The unfinished import of a noun in this browser. */
export async function readSaved(noun: Noun): Promise<Saved | undefined> {
  const [running, progress] = await Promise.all([
    attempt(() => get<Import>(importKey(noun), store())),
    attempt(() => get<Progress>(progressKey(noun), store())),
  ])
  return running === undefined || progress === undefined ? undefined : { running, progress }
}

/** The query for the progress of the unfinished import of a noun; null without one. */
export function unfinishedImport(noun: Noun) {
  return queryOptions({
    queryKey: [noun, 'unfinished'],
    queryFn: async () => (await attempt(() => get<Progress>(progressKey(noun), store()))) ?? null,
    networkMode: 'always',
    staleTime: 0,
  })
}

/** Saves an import at its start. Rows with passwords are not kept; a resumed import then needs the file again. */
export async function saveImport(running: Import): Promise<void> {
  try {
    const kept = running.hasSecrets ? { ...running, rows: [] } : running
    await setMany(
      [
        [importKey(running.noun), kept],
        [idKey(running.noun), running.id],
      ],
      store(),
    )
  } catch {
    unsaved.add(running.id)
  }
}

/** @returns false if another tab has discarded or replaced the import, whose progress is then not saved */
export async function saveProgress({ noun, id }: Import, progress: Progress): Promise<boolean> {
  if (!(await isSaved(noun, id))) return false
  await attempt(() => set(progressKey(noun), progress, store()))
  return true
}

/** Forgets an import, unless another tab has replaced it. */
export async function forget({ noun, id }: Import): Promise<void> {
  if (!(await isSaved(noun, id))) return
  await attempt(() => delMany([importKey(noun), idKey(noun), progressKey(noun)], store()))
}

/** Whether no other tab has discarded or replaced an import. */
async function isSaved(noun: Noun, id: string): Promise<boolean> {
  if (unsaved.has(id)) return true
  try {
    return (await get<string>(idKey(noun), store())) === id
  } catch {
    return true
  }
}

/** Remembers the file of a finished import. */
export async function remember(noun: Noun, file: Imported): Promise<void> {
  const earlier = (await attempt(() => get<Imported[]>(importedKey(noun), store()))) ?? []
  const others = earlier.filter(({ digest }) => digest !== file.digest)
  await attempt(() => set(importedKey(noun), [file, ...others].slice(0, MAX_REMEMBERED), store()))
}

/** The earlier import of the same file in this browser. */
export async function findImported(noun: Noun, digest: string): Promise<Imported | undefined> {
  const files = await attempt(() => get<Imported[]>(importedKey(noun), store()))
  return files?.find((file) => file.digest === digest)
}

/** Whether this browser has imported a file. */
export async function readImported(): Promise<boolean> {
  const files = await Promise.all(
    resources.map(({ noun }) => attempt(() => get<Imported[]>(importedKey(noun), store()))),
  )
  return files.some((imported = []) => imported.length > 0)
}

async function attempt<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act()
  } catch {
    return undefined
  }
}
