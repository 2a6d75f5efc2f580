import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDatabase, type Database, type Options, searchKey } from '../src/index.ts'

/** A temporary folder for one test, removed at its end: `await using folder = await temporaryFolder()`. */
export async function temporaryFolder() {
  const folder = await mkdtempDisposable(join(tmpdir(), 'database-'))
  return Object.assign(folder, { file: join(folder.path, 'test.db') })
}

/** A new database in a temporary folder; both are removed at the end of the test. */
export async function temporaryDatabase(options: Options = {}): Promise<Database & AsyncDisposable & { file: string }> {
  const folder = await temporaryFolder()
  const database = await createDatabase(`file:${folder.file}`, options)
  return {
    ...database,
    file: folder.file,
    [Symbol.asyncDispose]: async () => {
      await database.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** A user with required columns only. */
export function newUser(name: string) {
  const now = new Date('2026-01-02T03:04:05.678Z')
  const email = `${name}@example.com`
  return {
    name,
    name_key: searchKey(name),
    email,
    email_key: email.toLowerCase(),
    role: 'user',
    status: 'active',
    created_at: now,
    updated_at: now,
  }
}
