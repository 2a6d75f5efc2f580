import { randomUUID } from 'node:crypto'
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

const PARTIAL = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.partial$/
const HOUR_MS = 3_600_000

/**
 * Writes a file atomically: readers see the previous file or the complete new one. `write` fills a temporary file in the same
 * folder, readable by its owner only, which is synced to disk and then renamed. A temporary file of this file that a killed
 * process has left is removed.
 *
 * @param replace when false, a file that was created in the meantime causes an EEXIST error
 * @returns the result of `write`
 */
export async function writeAtomically<T>(
  file: string,
  replace: boolean,
  write: (partial: string) => Promise<T>,
): Promise<T> {
  await removeStale(file)
  const partial = `${file}.${randomUUID()}.partial`
  try {
    await (await open(partial, 'wx', 0o600)).close()
    const result = await write(partial)
    await sync(partial)
    await (replace ? rename(partial, file) : link(partial, file))
    await sync(dirname(file))
    return result
  } finally {
    await remove(partial)
  }
}

// Another process may still write a recent one: an empty one while it checks the source, a complete one while it syncs it.
async function removeStale(file: string): Promise<void> {
  const prefix = `${basename(file)}.`
  for (const name of await readdir(dirname(file)).catch(() => [])) {
    if (!name.startsWith(prefix) || !PARTIAL.test(name.slice(prefix.length))) continue
    const partial = join(dirname(file), name)
    const found = await stat(partial).catch(() => undefined)
    if (found === undefined) continue
    const ageMs = Date.now() - found.mtimeMs
    // That of another user stays.
    if (ageMs > (found.size > 0 ? 1 : 24) * HOUR_MS) await remove(partial).catch(() => {})
  }
}

async function remove(partial: string): Promise<void> {
  // On a full disk, or killed, SQLite leaves its journal behind.
  for (const ending of ['', '-journal']) await rm(partial + ending, { force: true })
}

async function sync(path: string): Promise<void> {
  await using file = await open(path)
  await file.sync()
}
