import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { linkSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CLI, sqliteTestDatabase } from '../engines.ts'
import { expectAtLeast, expectNone, expectTrue, type Measurement, report, type Scenario } from '../scenario.ts'
import { type Service, startService } from '../service.ts'
import { compareStored } from '../stored.ts'
import { Writers } from '../writers.ts'
import { mountDisk } from './disk-full.ts'
import { restoreDuringStart, TARGETS } from './restore-races.ts'

const KILLS = 5
const SMALL_DISK = 256 * 1024
const LOADED = 20
const LATE_WRITES = 50
const RACES_PER_TARGET = 25

interface User {
  id: number
  name: string
  email: string
}

// Exit codes of the CLI: database in use, and invalid arguments.
const [IN_USE, INVALID] = [4, 2]

export const backupMisuse: Scenario = {
  name: 'backup-misuse',
  run: async (log) => {
    await using database = await sqliteTestDatabase()
    const file = database.url.slice('file:'.length)
    await using service = await startService(database.url)
    const loaded = await load(service)
    await using writers = new Writers(service.url, { mayBreak: false })
    await writers.acknowledged(100)
    const measurements = await misuse(file)
    await writers.acknowledged(100)
    const ledger = await writers.stop()
    for (const user of loaded) ledger.users.set(user.id, user)
    const { lost, duplicated } = await compareStored(service.url, ledger)
    const fault = await database.check()
    for (const line of [...ledger.unexpected, ...lost, ...duplicated].slice(0, 10)) log(line)
    return [
      report('writes acknowledged', String(ledger.acknowledged)),
      ...measurements,
      expectNone('incorrect responses', ledger.unexpected.length),
      expectNone('acknowledged writes lost', lost.length),
      expectNone('duplicated writes', duplicated.length),
      expectTrue('database check clean', fault === undefined, fault),
    ]
  },
}

async function misuse(file: string): Promise<Measurement[]> {
  const folder = dirname(file)
  const path = (name: string) => join(folder, name)
  const url = `file:${file}`
  const copy = path('copy.db')
  const codeOf = (...args: string[]) => ended(start(args))
  const measurements = [
    expectTrue('backup of the live database succeeds', (await codeOf('backup', copy, '--database', url)) === 0),
  ]

  measurements.push(
    rejected('restore onto the live database', [await codeOf('restore', copy, '--replace', '--database', url)], IN_USE),
  )
  measurements.push(
    rejected(
      'backup of another database onto the live one',
      [await codeOf('backup', file, '--replace', '--database', `file:${copy}`)],
      IN_USE,
    ),
  )
  symlinkSync(file, path('symbolic.db'))
  linkSync(file, path('hard.db'))
  const names = [file, path('symbolic.db'), path('hard.db'), `${file}-wal`]
  const own: number[] = []
  for (const name of names) own.push(await codeOf('backup', name, '--replace', '--database', url))
  measurements.push(rejected('backup onto itself under each of its names', own, INVALID))

  const kills: number[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    await killDuringCopy(['backup', copy, '--replace', '--database', url], folder)
    kills.push(await codeOf('check', '--database', `file:${copy}`))
    const restored = `file:${path(`new-${kill}.db`)}`
    await killDuringCopy(['restore', copy, '--database', restored], folder)
    const repeated = await codeOf('restore', copy, '--database', restored)
    // A restore that was faster than its kill leaves a complete database, which the second one must not replace. The check
    // tells it from a broken one.
    kills.push([0, INVALID].includes(repeated) ? await codeOf('check', '--database', restored) : repeated)
  }
  measurements.push(
    expectTrue(
      'after kills the old copy is intact and a restore can be repeated',
      kills.every((code) => code === 0),
      kills.join(', '),
    ),
  )
  measurements.push(
    await fillDisk(url, copy),
    ...(await startDuringRestore(copy, path('late.db'))),
    await race(copy, path('other.db'), folder),
  )
  return measurements
}

async function race(copy: string, other: string, folder: string): Promise<Measurement> {
  await using service = await startService(`file:${other}`)
  await load(service, 1)
  await service.end('SIGTERM')
  const faults: string[] = []
  for (const target of TARGETS) {
    for (let run = 0; run < RACES_PER_TARGET; run++) {
      faults.push(...(await restoreDuringStart(target, copy, other, folder)).faults)
    }
  }
  return expectTrue(
    'restored rows and the old target survive a start at any moment',
    faults.length === 0,
    faults.join('; '),
  )
}

function rejected(name: string, codes: number[], code: number): Measurement {
  return expectTrue(
    `${name} exits with ${code}`,
    codes.every((seen) => seen === code),
    codes.join(', '),
  )
}

async function fillDisk(url: string, copy: string): Promise<Measurement> {
  let disk: ReturnType<typeof mountDisk>
  try {
    disk = mountDisk(SMALL_DISK)
  } catch {
    return report('backup and restore onto a full disk', 'NOT CHECKED: no permission to mount')
  }
  using _ = disk
  const old = join(disk.path, 'old.db')
  writeFileSync(old, 'letter')
  const codes = [
    await ended(start(['backup', join(disk.path, 'copy.db'), '--database', url])),
    await ended(start(['backup', old, '--replace', '--database', url])),
    await ended(start(['restore', copy, '--database', `file:${join(disk.path, 'new.db')}`])),
  ]
  const left = readdirSync(disk.path)
  const isUnchanged = readFileSync(old, 'utf8') === 'letter' && left.join() === 'old.db'
  return expectTrue(
    'a full disk rejects both, without leftover files',
    isUnchanged && !codes.includes(0),
    `${codes.join(', ')}; ${left.join(', ')}`,
  )
}

async function startDuringRestore(copy: string, file: string): Promise<Measurement[]> {
  const url = `file:${file}`
  const restore = start(['restore', copy, '--database', url])
  // The restore locks the database before it begins its copy. Earlier, it would find the service's lock and refuse.
  const isCopying = () => readdirSync(dirname(file)).some((name) => /late\.db\..*\.partial$/.test(name))
  while (!isCopying() && restore.exitCode === null) await sleep(1)
  restore.kill('SIGSTOP')
  const starting = startService(url).catch(() => undefined)
  await sleep(500)
  restore.kill('SIGCONT')
  const restored = await ended(restore)
  const service = (await starting) ?? (await startService(url))
  const restoredUsers = (await fetch(`${service.url}/users?count=true&limit=1`)).headers.get('x-total-count')
  const names = Array.from({ length: LATE_WRITES }, (_, n) => `Late ${n}`)
  const paths: string[] = []
  for (const name of names) {
    const answer = await fetch(`${service.url}/items/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name, price: 1 }),
    })
    if (answer.status === 201) paths.push(String(answer.headers.get('location')))
  }
  await service.end('SIGKILL')
  await using again = await startService(url)
  const statuses = await Promise.all(paths.map(async (path) => (await fetch(again.url + path)).status))
  return [
    expectTrue('service started during a restore: restore succeeds', restored === 0),
    expectAtLeast('service started during a restore: restored users', Number(restoredUsers), LOADED * 1000, ''),
    expectAtLeast('service started during a restore: writes acknowledged', paths.length, LATE_WRITES, ''),
    expectNone(
      'service started during a restore: acknowledged writes lost',
      statuses.filter((status) => status !== 200).length,
    ),
  ]
}

function start(args: string[]): ChildProcess {
  return spawn(process.execPath, [CLI, ...args], { stdio: 'ignore' })
}

async function ended(child: ChildProcess): Promise<number> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode ?? -1
}

/** Kills a command as soon as its temporary file exists. A command that is faster runs to its end. */
async function killDuringCopy(args: string[], folder: string): Promise<void> {
  const before = partials(folder)
  const child = start(args)
  while (partials(folder) === before && child.exitCode === null) await sleep(0)
  child.kill('SIGKILL')
  await ended(child)
}

function partials(folder: string): number {
  return readdirSync(folder).filter((name) => name.endsWith('.partial')).length
}

/** Creates thousands of users: by default so many that copying the database takes some time. */
async function load({ url }: Service, thousands = LOADED): Promise<User[]> {
  const all: User[] = []
  for (let n = 0; n < thousands; n++) {
    const users = Array.from({ length: 1000 }, (_, at) => ({ name: 'Loaded', email: `loaded-${n}-${at}@example.com` }))
    const answer = await fetch(`${url}/api/users/bulk`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(users),
    })
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    for (const { id, name, email } of (await answer.json()) as User[]) all.push({ id, name, email })
  }
  return all
}
