import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, linkSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CLI, sqlitePlace } from '../engines.ts'
import { atLeast, type Figure, holds, none, type Row, told } from '../row.ts'
import { type Service, startService } from '../service.ts'
import { compareStored } from '../stored.ts'
import { Writers } from '../writers.ts'
import { mountDisk } from './disk-full.ts'

const KILLS = 5
const SMALL_DISK = 256 * 1024
const LOADED = 20
const LATE = 50

interface User {
  id: number
  name: string
  email: string
}

const [IN_USE, OWN_FILE] = [4, 2]

export const backupMisuse: Row = {
  name: 'backup-misuse',
  title: 'Backup and restore misused next to a service that writes',
  how: `Sixteen callers write as above. Meanwhile \`resource backup\` and \`resource restore\` are told to replace the live database, to write onto
it under each of its names, and onto a disk without room, and are killed half-way ${KILLS} times each. A service is started where a restore is
half-way to a place without a database. In the end every record is compared as above.`,
  run: async (tell) => {
    await using place = await sqlitePlace()
    const file = place.url.slice('file:'.length)
    await using service = await startService(place.url)
    const loaded = await load(service)
    const writers = new Writers(service.url, { mayBreak: false })
    await writers.acknowledged(100)
    const figures = await misuse(file)
    await writers.acknowledged(100)
    const ledger = await writers.stop()
    for (const user of loaded) ledger.users.set(user.id, user)
    const { lost, doubled } = await compareStored(service.url, ledger)
    const fault = await place.check()
    for (const line of [...ledger.wrong, ...lost, ...doubled].slice(0, 10)) tell(line)
    return [
      told('writes acknowledged', String(ledger.acknowledged)),
      ...figures,
      none('wrong answers', ledger.wrong.length),
      none('acknowledged writes lost', lost.length),
      none('writes doubled', doubled.length),
      holds('database check clean', fault === undefined, fault),
    ]
  },
}

async function misuse(file: string): Promise<Figure[]> {
  const folder = dirname(file)
  const path = (name: string) => join(folder, name)
  const url = `file:${file}`
  const copy = path('copy.db')
  const codeOf = (...args: string[]) => ended(start(args))
  const figures = [holds('a backup of it succeeds', (await codeOf('backup', copy, '--database', url)) === 0)]

  figures.push(
    refused('restore onto the live database', [await codeOf('restore', copy, '--replace', '--database', url)], IN_USE),
  )
  figures.push(
    refused(
      'backup of another one onto it',
      [await codeOf('backup', file, '--replace', '--database', `file:${copy}`)],
      IN_USE,
    ),
  )
  symlinkSync(file, path('symbolic.db'))
  linkSync(file, path('hard.db'))
  const names = [file, path('symbolic.db'), path('hard.db'), `${file}-wal`]
  const own: number[] = []
  for (const name of names) own.push(await codeOf('backup', name, '--replace', '--database', url))
  figures.push(refused('backup onto itself, by each of its names', own, OWN_FILE))

  const kills: string[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    await killHalfWay(['backup', copy, '--replace', '--database', url], folder)
    kills.push(String(await codeOf('check', '--database', `file:${copy}`)))
    await killHalfWay(['restore', copy, '--database', `file:${path(`new-${kill}.db`)}`], folder)
    kills.push(String(await codeOf('restore', copy, '--database', `file:${path(`new-${kill}.db`)}`)))
  }
  figures.push(
    holds(
      'killed half-way: the old copy is whole, and a restore can be made again',
      kills.every((code) => code === '0' || code === String(OWN_FILE)),
      kills.join(', '),
    ),
  )
  figures.push(await fillDisk(url, copy), ...(await startDuringRestore(copy, path('late.db'))))
  return figures
}

function refused(what: string, codes: number[], code: number): Figure {
  return holds(
    `${what}: refused with exit code ${code}`,
    codes.every((seen) => seen === code),
    codes.join(', '),
  )
}

async function fillDisk(url: string, copy: string): Promise<Figure> {
  let disk: ReturnType<typeof mountDisk>
  try {
    disk = mountDisk(SMALL_DISK)
  } catch {
    return told('backup and restore onto a full disk', 'NOT CHECKED: this user may not mount')
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
  const isAsBefore = readFileSync(old, 'utf8') === 'letter' && left.join() === 'old.db'
  return holds(
    'onto a full disk: refused, and nothing is left',
    isAsBefore && !codes.includes(0),
    `${codes.join(', ')}; ${left.join(', ')}`,
  )
}

async function startDuringRestore(copy: string, file: string): Promise<Figure[]> {
  const url = `file:${file}`
  const restore = start(['restore', copy, '--database', url])
  while (!existsSync(file) && restore.exitCode === null) await sleep(1)
  restore.kill('SIGSTOP')
  const starting = startService(url).catch(() => undefined)
  await sleep(500)
  restore.kill('SIGCONT')
  const restored = await ended(restore)
  const service = (await starting) ?? (await startService(url))
  const names = Array.from({ length: LATE }, (_, n) => `Late ${n}`)
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
    holds('a service started during a restore: the restore succeeds', restored === 0),
    atLeast('a service started during a restore: writes acknowledged', paths.length, LATE, ''),
    none(
      'a service started during a restore: acknowledged writes lost',
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

/** Kills a command as soon as the file that it copies to is there, or lets it end. */
async function killHalfWay(args: string[], folder: string): Promise<void> {
  const before = partials(folder)
  const child = start(args)
  while (partials(folder) === before && child.exitCode === null) await sleep(0)
  child.kill('SIGKILL')
  await ended(child)
}

function partials(folder: string): number {
  return readdirSync(folder).filter((name) => name.endsWith('.partial')).length
}

/** So many users that a copy takes a while. */
async function load({ url }: Service): Promise<User[]> {
  const all: User[] = []
  for (let n = 0; n < LOADED; n++) {
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
