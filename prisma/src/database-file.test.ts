import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../test/database.ts'
import { createDatabase } from './index.ts'

test('an unusable path is rejected with the reason, and nothing is created', async () => {
  await using folder = await temporaryFolder()
  const path = (...names: string[]) => join(folder.path, ...names)
  writeFileSync(path('letter'), 'Dear reader, this is a letter and no database. '.repeat(100))
  mkdirSync(path('folder'))
  symlinkSync('loop', path('loop'))
  symlinkSync('letter/below', path('dangling'))
  execFileSync('mkfifo', [path('fifo')])
  const reason = async (file: string) => {
    const error: Error = await createDatabase(`file:${file}`).then(
      () => expect.fail(`${file} was opened`),
      (error) => error,
    )
    return /: (.+)\. It must be a SQLite database, or not exist yet,/.exec(error.message)?.[1]
  }
  expect(await reason('/proc/none/r.db')).toBe("ENOENT: no such file or directory, mkdir '/proc/none'")
  expect(await reason('/proc/r.db')).toBe("ENOENT: no such file or directory, open '/proc/r.db'")
  expect(await reason('/dev/full')).toBe('it is not a regular file')
  expect(await reason(path('fifo'))).toBe('it is not a regular file')
  expect(await reason(path('folder'))).toBe('it is a folder')
  expect(await reason(path('letter'))).toBe('file is not a database')
  expect(await reason(path('letter', 'below', 'r.db'))).toBe(`${path('letter')} is not a folder`)
  expect(await reason(path('dangling'))).toBe(`${path('letter')} is not a folder`)
  expect(await reason(path('loop'))).toBe(`ELOOP: too many symbolic links encountered, stat '${path('loop')}'`)
  expect(await reason(path('x'.repeat(241)))).toBe('its name is longer than 240 bytes')
  expect(await reason(path(...Array(50).fill('abcdefghij'), 'r.db'))).toBe('its path is longer than 500 bytes')
  expect(readdirSync(folder.path).sort()).toEqual(['dangling', 'fifo', 'folder', 'letter', 'loop'])
})

test('opening a database in a missing folder several times at once succeeds', async () => {
  await using folder = await temporaryFolder()
  const url = `file:${join(folder.path, 'a', 'b', 'r.db')}`
  const databases = await Promise.all([createDatabase(url), createDatabase(url), createDatabase(url)])
  expect(await Promise.all(databases.map(({ read }) => read.users.count({})))).toEqual([0, 0, 0])
  await Promise.all(databases.map((database) => database.close()))
})
