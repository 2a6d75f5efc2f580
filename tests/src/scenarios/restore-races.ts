import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { CLI } from '../engines.ts'
import { type Service, startService } from '../service.ts'

const MAX_DELAY_MS = 2_000

/** What is at the target of a restore when it begins. */
export const TARGETS = ['no file', 'empty file', 'another database', "another database's log"] as const

type Target = (typeof TARGETS)[number]

export interface Outcome {
  /** Exit code of the restore. */
  code: number
  /** What is wrong; empty for a correct outcome. */
  faults: string[]
}

/**
 * Restores a backup while a service starts on the same file, either one a random time after the other. A restore that
 * succeeds must leave exactly the rows of the backup, and what the service acknowledged later. One that fails must leave the
 * target as it was.
 *
 * @param copy the backup
 * @param other another database, which is not in use
 */
export async function restoreDuringStart(
  target: Target,
  copy: string,
  other: string,
  folder: string,
): Promise<Outcome> {
  const place = mkdtempSync(join(folder, 'race-'))
  const file = join(place, 'resource.db')
  if (target === 'empty file') writeFileSync(file, '')
  if (target === 'another database') copyFileSync(other, file)
  if (target === "another database's log") writeLog(other, `${file}-wal`)
  const before = target === 'another database' ? rowsOf(file) : ''
  const url = `file:${file}`
  const delayMs = Math.random() * MAX_DELAY_MS
  const isRestoreFirst = Math.random() < 0.5
  const restoring = sleep(isRestoreFirst ? 0 : delayMs).then(() =>
    exitCode(['restore', copy, '--database', url, ...(target === 'another database' ? ['--replace'] : [])]),
  )
  const starting = sleep(isRestoreFirst ? delayMs : 0).then(() => startService(url).catch(() => undefined))
  const [code, started] = await Promise.all([restoring, starting])
  const service = started ?? (await startService(url))
  const faults: string[] = []
  const rows = code === 0 ? rowsOf(copy) : before
  try {
    const { length } = rows === '' ? [] : (JSON.parse(rows) as unknown[])
    const served = await totalOf(service)
    if (served !== length) faults.push(`${served} users served instead of ${length}`)
    const late = await fetch(`${service.url}/items/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"Late","price":1}',
    })
    if (late.status !== 201) faults.push(`a write after the start: ${late.status}`)
  } finally {
    await service.end('SIGKILL')
  }
  const stored = rowsOf(file)
  if (stored !== (rows || '[]')) faults.push(`the stored users differ from ${code === 0 ? 'the backup' : 'the target'}`)
  if (!hasLateItem(file)) faults.push('an acknowledged write is lost')
  rmSync(place, { recursive: true })
  return {
    code,
    faults: faults.map((fault) => `${target}, exit code ${code}, delay ${Math.round(delayMs)} ms: ${fault}`),
  }
}

function hasLateItem(file: string): boolean {
  using database = new DatabaseSync(file)
  return database.prepare(`SELECT 1 FROM items WHERE name = 'Late'`).get() !== undefined
}

function rowsOf(file: string): string {
  if (!existsSync(file)) return ''
  using database = new DatabaseSync(file)
  return JSON.stringify(database.prepare('SELECT id, name, email FROM users ORDER BY id').all())
}

/** The log of another database, without its checkpoint. */
function writeLog(other: string, file: string): void {
  const copy = `${file}.source`
  copyFileSync(other, copy)
  using database = new DatabaseSync(copy)
  database.exec(`PRAGMA journal_mode = WAL; UPDATE users SET name = 'Stray'`)
  copyFileSync(`${copy}-wal`, file)
}

async function totalOf({ url }: Service): Promise<number> {
  const answer = await fetch(`${url}/api/users?count=true&limit=1`)
  return Number(answer.headers.get('x-total-count'))
}

async function exitCode(args: string[]): Promise<number> {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: 'ignore' })
  await once(child, 'exit')
  return child.exitCode ?? -1
}
