import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { link, lstat, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/database.ts'
import { tableNames } from '../../test/plans.ts'
import { insertOne, remove, update } from '../../test/rows.ts'
import { createDatabase, type Tables } from '../index.ts'
import { backUp, check, restore } from './backup.ts'
import { migrate } from './migrate.ts'

const insertion = `INSERT INTO items (name, price) VALUES ('Rug', 80)`

/** A database of about 3,500 pages, which takes several steps to copy. */
async function largeDatabase(file: string): Promise<Sqlite.Database> {
  await migrate(file)
  const database = new Sqlite(file, { timeout: 0 })
  database.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    INSERT INTO items (name, price) SELECT 'Item ' || i, i FROM n`)
  return database
}

test('writes between the steps of a backup neither change nor restart it', async () => {
  await using folder = await temporaryFolder()
  const database = await largeDatabase(folder.file)
  const shares: number[] = []
  const copy = `${folder.file}.copy`
  await backUp(`file:${folder.file}`, copy, {
    onProgress(done, total) {
      shares.push(done / total)
      database.exec(insertion)
    },
  })
  database.close()
  expect(shares.length).toBeGreaterThan(2)
  expect(shares).toEqual(shares.toSorted((a, b) => a - b))
  expect(check(`file:${copy}`)).toMatchObject({ damage: [], mismatch: null, rows: { items: 100_000 } })
  const { rows } = check(`file:${folder.file}`)
  expect(rows.items).toBe(100_000 + shares.length)
  expect(Object.keys(rows).sort()).toEqual(tableNames.toSorted())
})

test('a process that opens the database during a restore cannot write to the old file', async () => {
  await using folder = await temporaryFolder()
  const url = `file:${folder.file}`
  const copy = `${folder.file}.copy`
  const database = await largeDatabase(folder.file)
  await backUp(url, copy)
  database.close()
  const late = new Sqlite(folder.file, { timeout: 0 })
  const codes: string[] = []
  const attempt = (sql: string) => {
    try {
      late.exec(sql)
    } catch (error) {
      codes.push((error as { code: string }).code)
    }
  }
  await restore(copy, url, { replace: true, onProgress: () => codes.length === 0 && attempt(insertion) })
  attempt('PRAGMA journal_mode = WAL')
  attempt(insertion)
  late.close()
  expect(codes).toEqual(['SQLITE_BUSY', 'SQLITE_READONLY_DBMOVED', 'SQLITE_READONLY_DBMOVED'])
  expect(check(url).rows.items).toBe(100_000)
})

test('an aborted backup or restore changes nothing', async () => {
  await using folder = await temporaryFolder()
  const url = `file:${folder.file}`
  const copy = `${folder.file}.copy`
  const database = await largeDatabase(folder.file)
  await backUp(url, copy)
  database.exec(insertion)
  const stop = () => {
    throw new Error('enough')
  }
  await expect(backUp(url, copy, { replace: true, onProgress: stop })).rejects.toThrow('enough')
  database.close()
  await expect(restore(copy, url, { replace: true, onProgress: stop })).rejects.toThrow('enough')
  expect((await readdir(dirname(folder.file))).sort()).toEqual(['test.db', 'test.db.copy'])
  expect(check(`file:${copy}`).rows.items).toBe(100_000)
  expect(check(url).rows.items).toBe(100_001)
})

test('a backup removes the copies that killed backups to the same file have left, and none that another one may write', async () => {
  await using folder = await temporaryFolder()
  await migrate(folder.file)
  const copy = join(folder.path, 'copy.db')
  const id = '4b1a1d1c-3f0e-4c2b-9a77-0c9f6f3f7e1d'
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000)
  const leave = async (name: string, text: string, hours: number) => {
    await writeFile(join(folder.path, name), text)
    await utimes(join(folder.path, name), hoursAgo(hours), hoursAgo(hours))
  }
  await leave(`copy.db.${id}.partial`, 'pages', 1.1)
  await leave(`copy.db.${id}.partial-journal`, 'pages', 1.1)
  await leave(`copy.db.${id.replace('4', '5')}.partial`, '', 24.1)
  await leave(`copy.db.${id.replace('4', '6')}.partial`, 'pages', 0.9)
  await leave(`copy.db.${id.replace('4', '7')}.partial`, '', 23)
  await leave(`other.db.${id}.partial`, 'pages', 1.1)
  await leave('copy.db.mine.partial', 'pages', 1.1)
  await backUp(`file:${folder.file}`, copy)
  expect((await readdir(folder.path)).filter((name) => name !== 'test.db').sort()).toEqual([
    'copy.db',
    'copy.db.6b1a1d1c-3f0e-4c2b-9a77-0c9f6f3f7e1d.partial',
    'copy.db.7b1a1d1c-3f0e-4c2b-9a77-0c9f6f3f7e1d.partial',
    'copy.db.mine.partial',
    'other.db.4b1a1d1c-3f0e-4c2b-9a77-0c9f6f3f7e1d.partial',
  ])
})

test('a dangling reference is reported as damage', async () => {
  await using folder = await temporaryFolder()
  await migrate(folder.file)
  const database = new Sqlite(folder.file)
  database.exec(`PRAGMA foreign_keys = OFF;
    CREATE TABLE parts (id INTEGER PRIMARY KEY, item INTEGER REFERENCES items (id));
    INSERT INTO parts VALUES (1, 7), (2, 8)`)
  database.close()
  expect(check(`file:${folder.file}`).damage).toEqual(['2 rows of parts refer to rows of items that do not exist'])
})

test('a database without the newest migration is intact, and its pending migrations are named', async () => {
  await using folder = await temporaryFolder()
  await migrate(folder.file)
  const database = new Sqlite(folder.file)
  database.exec(`DELETE FROM _prisma_migrations WHERE migration_name = '0001_init'`)
  database.close()
  expect(check(`file:${folder.file}`)).toMatchObject({ damage: [], mismatch: null, pending: ['0001_init'] })
})

test.each(['no file', 'an empty file', 'a killed restore'])(
  'a program that opens %s during its restore can neither write then nor later, and the restored rows stay',
  async (target) => {
    await using folder = await temporaryFolder()
    const url = `file:${folder.file}`
    const copy = `${folder.file}.copy`
    const database = await largeDatabase(folder.file)
    await backUp(url, copy)
    database.close()
    await rm(folder.file)
    if (target !== 'no file') await writeFile(folder.file, '')
    if (target === 'a killed restore') new Sqlite(folder.file).exec('PRAGMA user_version = 0').close()
    let late: Sqlite.Database | undefined
    const codes: string[] = []
    const start = () => {
      late ??= new Sqlite(folder.file, { timeout: 0 })
      try {
        late.exec('PRAGMA journal_mode = WAL; CREATE TABLE acknowledged (id INTEGER)')
      } catch (error) {
        codes.push((error as { code: string }).code)
      }
    }
    await restore(copy, url, { onProgress: () => late ?? start() })
    start()
    late?.close()
    expect(codes).toEqual(['SQLITE_BUSY', 'SQLITE_READONLY_DBMOVED'])
    expect(check(url).rows.items).toBe(100_000)
    expect((await readdir(folder.path)).sort()).toEqual(['test.db', 'test.db.copy'])
  },
)

test('a program that opens the file of a failed restore cannot write to it after its removal', async () => {
  await using folder = await temporaryFolder()
  const copy = `${folder.file}.copy`
  const database = await largeDatabase(copy)
  database.close()
  let late: Sqlite.Database | undefined
  const stop = () => {
    late = new Sqlite(folder.file, { timeout: 0 })
    throw new Error('enough')
  }
  await expect(restore(copy, `file:${folder.file}`, { onProgress: stop })).rejects.toThrow('enough')
  expect(() => late?.exec('CREATE TABLE acknowledged (id INTEGER)')).toThrow(/readonly|disk I\/O error/)
  late?.close()
  expect((await readdir(folder.path)).filter((name) => name.startsWith('test.db') && !name.includes('copy'))).toEqual(
    [],
  )
})

test('a log or a journal that another database left is not applied to a restored file or a backup', async () => {
  await using folder = await temporaryFolder()
  const { file } = folder
  const copy = `${file}.copy`
  const [other, url] = [`${file}.other`, `file:${file}`]
  await migrate(copy)
  new Sqlite(copy).exec(insertion).close()
  await migrate(other)
  const late = new Sqlite(other)
  late.pragma('journal_mode = WAL')
  late.exec(insertion)
  const log = await readFile(`${other}-wal`)
  late.pragma('journal_mode = DELETE')
  late.close()
  for (const target of ['missing', 'intact', 'not a database']) {
    for (const ending of ['-wal', '-journal']) {
      await rm(file, { force: true })
      if (target === 'intact') await migrate(file)
      if (target === 'not a database') await writeFile(file, 'letter'.repeat(2000))
      await writeFile(file + ending, ending === '-wal' ? log : log.subarray(0, 512))
      await writeFile(`${file}-shm`, Buffer.alloc(32_768, 1))
      await restore(copy, url, { replace: true })
      await migrate(file)
      expect([target, ending, check(url).rows.items]).toEqual([target, ending, 1])
    }
  }
  await writeFile(`${other}.copy-wal`, log)
  await expect(backUp(url, `${other}.copy`)).rejects.toMatchObject({
    fault: 'exists',
    message: `${other}.copy-wal is left of another database. Remove it, or name another file.`,
  })
})

test('a restore or a backup does not replace a database in use', async () => {
  await using folder = await temporaryFolder()
  const url = `file:${folder.file}`
  const [copy, other] = [`${folder.file}.copy`, `${folder.file}.other`]
  const database = await largeDatabase(folder.file)
  await backUp(url, copy)
  await migrate(other)
  database.pragma('wal_checkpoint(TRUNCATE)')
  const inUse = { fault: 'in use' }
  await expect(restore(copy, url, { replace: true })).rejects.toMatchObject(inUse)
  await expect(backUp(`file:${other}`, folder.file, { replace: true })).rejects.toMatchObject(inUse)
  database.exec(insertion)
  await expect(restore(copy, url, { replace: true })).rejects.toMatchObject(inUse)
  await expect(backUp(`file:${other}`, folder.file, { replace: true })).rejects.toMatchObject(inUse)
  database.exec(insertion)
  expect(database.prepare('SELECT count(*) FROM items').pluck().get()).toBe(100_002)
  database.close()
})

test('a backup never overwrites its own source, under any of its names', async () => {
  await using folder = await temporaryFolder()
  const url = `file:${folder.file}`
  const database = await largeDatabase(folder.file)
  const [symbolic, hard] = [`${folder.file}.symbolic`, `${folder.file}.hard`]
  await symlink(folder.file, symbolic)
  await link(folder.file, hard)
  await link(`${folder.file}-wal`, `${folder.file}.log`)
  const before = (await stat(folder.file)).ino
  for (const file of [
    folder.file,
    symbolic,
    hard,
    `${folder.file}-wal`,
    `${folder.file}.log`,
    `${folder.file}-journal`,
  ]) {
    await expect(backUp(url, file, { replace: true })).rejects.toMatchObject({ fault: 'unsupported' })
  }
  for (const file of [folder.file, symbolic, hard]) {
    await expect(restore(file, url, { replace: true })).rejects.toMatchObject({ fault: 'unsupported' })
  }
  database.exec(insertion)
  database.close()
  expect((await stat(folder.file)).ino).toBe(before)
  expect(check(url).rows.items).toBe(100_001)
})

test('a restore through a symbolic link replaces the target of the link', async () => {
  await using folder = await temporaryFolder()
  const copy = `${folder.file}.copy`
  const database = await largeDatabase(folder.file)
  await backUp(`file:${folder.file}`, copy)
  database.exec(insertion)
  database.close()
  await symlink(folder.file, `${folder.file}.link`)
  await restore(copy, `file:${folder.file}.link`, { replace: true })
  expect((await lstat(`${folder.file}.link`)).isSymbolicLink()).toBe(true)
  expect(check(`file:${folder.file}`).rows.items).toBe(100_000)
})

test('a backup or a restore does not replace a file that replaced its target during the copy', async () => {
  await using folder = await temporaryFolder()
  const url = `file:${folder.file}`
  const [target, other] = [`${folder.file}.copy`, `${folder.file}.other`]
  ;(await largeDatabase(folder.file)).close()
  const replaceTarget = () => existsSync(other) && renameSync(other, target)
  for (const replace of [
    backUp,
    (_: string, target: string) => restore(folder.file, `file:${target}`, { replace: true, onProgress: replaceTarget }),
  ]) {
    await migrate(target)
    await writeFile(other, 'letter')
    const outcome = replace(url, target, { replace: true, onProgress: replaceTarget })
    await expect(outcome).rejects.toMatchObject({
      fault: 'in use',
      message: `${target} was replaced by another program.`,
    })
    expect(await readFile(target, 'utf8')).toBe('letter')
    await rm(target)
  }
})

test('a backup into a folder that does not exist is refused, by the name of the folder', async () => {
  await using folder = await temporaryFolder()
  await migrate(folder.file)
  const missing = `${dirname(folder.file)}/none`
  await expect(backUp(`file:${folder.file}`, `${missing}/copy.db`)).rejects.toMatchObject({
    fault: 'missing',
    message: `The folder ${missing} does not exist.`,
  })
})

test('a backup does not replace a file that appears during the copy', async () => {
  await using folder = await temporaryFolder()
  const copy = `${folder.file}.copy`
  const database = await largeDatabase(folder.file)
  database.close()
  const outcome = backUp(`file:${folder.file}`, copy, { onProgress: () => writeFileSync(copy, 'letter') })
  await expect(outcome).rejects.toMatchObject({ fault: 'exists' })
  expect(await readFile(copy, 'utf8')).toBe('letter')
})

test('an empty file is replaced without `replace`, a database with tables is not', async () => {
  await using folder = await temporaryFolder()
  const url = `file:${folder.file}`
  const copy = `${folder.file}.copy`
  await migrate(copy)
  await writeFile(folder.file, '')
  expect((await restore(copy, url)).rows).toMatchObject({ items: 0 })
  await expect(restore(copy, url)).rejects.toMatchObject({ fault: 'exists' })
})

test('after a restore, ids and versions go on above those of the replaced database', async () => {
  await using folder = await temporaryFolder()
  const url = `file:${folder.file}`
  const copy = `${folder.file}.copy`
  const audit = {
    shared: { actor: 'local', actor_detail: null, procedure: 'test', request_id: null, address: null },
    tables: { items: { resource: 'items', shown: ['name'], secrets: [] } },
  }
  const item = (name: string) => ({ name, name_key: name, price: 1 })
  const inDatabase = async <T>(work: (tx: Tables) => Promise<T>) => {
    const database = await createDatabase(url)
    const result = await database.write(work, { audit })
    await database.close()
    return result
  }
  const versionOf = (id: number) => inDatabase(async (tx) => (await tx.items.find({ id }))?.version)
  await inDatabase((tx) => insertOne(tx.items, item('first')))
  await backUp(url, copy)
  await inDatabase(async (tx) => {
    for (const name of ['a', 'b', 'c']) await update(tx.items, 1, undefined, { name })
    await insertOne(tx.items, item('lost'))
    await remove(tx.items, 1, undefined)
  })
  for (let times = 0; times < 2; times++) {
    const before = (await versionOf(1)) ?? 4
    await restore(copy, url, { replace: true })
    const restored = (await versionOf(1)) ?? 0
    expect(restored).toBeGreaterThan(before)
    expect(await inDatabase((tx) => update(tx.items, 1, [before], { name: 'stale' }))).toBe(undefined)
    expect((await inDatabase((tx) => insertOne(tx.items, item('next')))).id).toBe(3 + times)
    await inDatabase((tx) => update(tx.items, 1, [restored], { name: 'changed' }))
  }
  const fresh = `${folder.file}.fresh`
  await restore(copy, `file:${fresh}`)
  const database = await createDatabase(`file:${fresh}`)
  expect(await database.read.items.find({ id: 1 })).toMatchObject({ name: 'first', version: 1 })
  await database.close()
})
