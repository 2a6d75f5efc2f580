import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sqliteTestDatabase } from '../engines.ts'
import { Readers } from '../readers.ts'
import { createBook } from '../records.ts'
import {
  expectAtLeast,
  expectAtMost,
  expectNone,
  expectTrue,
  type Measurement,
  report,
  type Scenario,
} from '../scenario.ts'
import { startService } from '../service.ts'
import { compareStored } from '../stored.ts'
import { Writers } from '../writers.ts'

const FILLINGS = 5
const MEBIBYTE = 1024 * 1024
const DISK = 16 * MEBIBYTE
const FREED = 2 * MEBIBYTE
const STAYS_FULL_MS = 1000
const SUCCESS_MS = 1000

export const diskFull: Scenario = {
  name: 'disk-full',
  run: async (log) => {
    using disk = mountDisk()
    return await fillDisk(disk.path, log)
  },
}

async function fillDisk(path: string, log: (line: string) => void): Promise<Measurement[]> {
  const other = join(path, 'other')
  let taken = (FILLINGS + 1) * FREED
  await writeFile(other, Buffer.alloc(taken))
  await using database = await sqliteTestDatabase(path)
  await using service = await startService(database.url)
  await using readers = new Readers(service.url, '/books/1', await createBook(service.url))
  await using writers = new Writers(service.url, { mayBreak: false })
  const { ledger } = writers
  let slowest = 0
  let fewestRejections = Number.POSITIVE_INFINITY
  for (let filling = 0; filling < FILLINGS && ledger.unexpected.length === 0; filling++) {
    await waitUntilFull(writers)
    const rejected = ledger.rejections
    await readers.answered(100)
    await sleep(STAYS_FULL_MS)
    fewestRejections = Math.min(fewestRejections, ledger.rejections - rejected)
    taken -= FREED
    await truncate(other, taken)
    const returned = performance.now()
    await writers.acknowledged(1)
    slowest = Math.max(slowest, performance.now() - returned)
  }
  await readers.stop()
  await writers.stop()
  const { lost, duplicated } = await compareStored(service.url, ledger)
  const fault = await database.check()
  const unexpected = [...readers.unexpected, ...ledger.unexpected]
  for (const line of [...unexpected, ...lost, ...duplicated].slice(0, 10)) log(line)
  return [
    report('reads answered, writes acknowledged', `${readers.correct}, ${ledger.acknowledged}`),
    expectNone('incorrect responses', unexpected.length),
    expectNone('rejected reads', readers.rejections),
    expectAtLeast('503 responses with Retry-After, minimum per full disk', fewestRejections, 1, ''),
    expectAtMost('first successful write after space was freed, slowest', slowest, SUCCESS_MS, 'ms'),
    expectNone('acknowledged writes lost', lost.length),
    expectNone('partial or duplicated writes', duplicated.length),
    expectTrue('database check clean', fault === undefined, fault),
  ]
}

async function waitUntilFull({ ledger }: Writers): Promise<void> {
  for (let before = -1; before !== ledger.acknowledged && ledger.unexpected.length === 0; ) {
    before = ledger.acknowledged
    await sleep(500)
  }
}

/** @throws Error without the permission to mount */
export function mountDisk(bytes = DISK) {
  const path = mkdtempSync(join(tmpdir(), 'torture-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path], { stdio: 'pipe' })
  } catch (error) {
    rmdirSync(path)
    throw error
  }
  return {
    path,
    [Symbol.dispose]: () => {
      execFileSync('umount', [path])
      rmdirSync(path)
    },
  }
}
