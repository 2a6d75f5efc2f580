import { randomUUID } from 'node:crypto'
import { link, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Lets `write` fill a file beside `file`, which its owner alone can read, brings it to the disk, and only then gives it
 * its name: whoever looks finds the whole file or what was there before.
 *
 * @param replace else a file that has come there meanwhile is an EEXIST error
 * @returns what `write` returns
 */
export async function place<T>(file: string, replace: boolean, write: (partial: string) => Promise<T>): Promise<T> {
  const partial = `${file}.${randomUUID()}.partial`
  try {
    await (await open(partial, 'wx', 0o600)).close()
    const result = await write(partial)
    await sync(partial)
    await (replace ? rename(partial, file) : link(partial, file))
    await sync(dirname(file))
    return result
  } finally {
    // A disk that is full lets SQLite leave its journal behind.
    for (const ending of ['', '-journal']) await rm(partial + ending, { force: true })
  }
}

async function sync(path: string): Promise<void> {
  await using file = await open(path)
  await file.sync()
}
