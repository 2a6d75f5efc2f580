import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/database.ts'
import { createDatabase } from '../index.ts'
import { prepareFolder } from './file.ts'

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

test('only the owner can read a new database, its log and its folder; an existing file and folder keep their permissions', async () => {
  await using folder = await temporaryFolder()
  const path = (...names: string[]) => join(folder.path, ...names)
  const modes = async (file: string, names: string[]) => {
    const database = await createDatabase(`file:${file}`)
    const found = names.map((name) => (statSync(path(name)).mode & 0o777).toString(8))
    await database.close()
    return found
  }
  const umask = process.umask(0o022)
  try {
    expect(await modes(path('a', 'b', 'r.db'), ['a', 'a/b', 'a/b/r.db', 'a/b/r.db-wal', 'a/b/r.db-shm'])).toEqual([
      ...['700', '700', '600', '600', '600'],
    ])
    mkdirSync(path('old'), 0o755)
    writeFileSync(path('old', 'r.db'), '', { mode: 0o640 })
    expect(await modes(path('old', 'r.db'), ['old', 'old/r.db', 'old/r.db-wal'])).toEqual(['755', '640', '640'])
  } finally {
    process.umask(umask)
  }
})

test('a folder that another process creates at the same time is used', async () => {
  await using folder = await temporaryFolder()
  const wanted = join(folder.path, 'a', 'b')
  let created = 0
  const create = (path: string, mode: number) => {
    mkdirSync(path)
    created++
    mkdirSync(path, mode)
  }
  prepareFolder(join(wanted, 'r.db'), create)
  expect([created, readdirSync(join(folder.path, 'a'))]).toEqual([2, ['b']])
  const fail = (path: string) => {
    writeFileSync(path, 'a file')
    mkdirSync(path)
  }
  expect(() => prepareFolder(join(folder.path, 'c', 'r.db'), fail)).toThrow('EEXIST')
})
