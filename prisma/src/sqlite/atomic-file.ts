import { randomUUID } from 'node:crypto'
import { link, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Writes a file atomically: readers see the previous file or the complete new one. `write` fills a temporary file in the same
 * folder, readable by its owner only, which is synced to disk and then renamed.
 *
 * @param replace when false, a file that was created in the meantime causes an EEXIST error
 * @returns the result of `write`
 */
export async function writeAtomically<T>(
  file: string,
  replace: boolean,
  write: (partial: string) => Promise<T>,
): Promise<T> {
  const partial = `${file}.${randomUUID()}.partial`
  try {
    await (await open(partial, 'wx', 0o600)).close()
    const result = await write(partial)
    await sync(partial)
    await (replace ? rename(partial, file) : link(partial, file))
    await sync(dirname(file))
    return result
  } finally {
    // On a full disk SQLite leaves its journal behind.
    for (const ending of ['', '-journal']) await rm(partial + ending, { force: true })
  }
}

async function sync(path: string): Promise<void> {
  await using file = await open(path)
  await file.sync()
}
