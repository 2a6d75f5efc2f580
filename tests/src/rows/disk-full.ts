import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sqlitePlace } from '../engines.ts'
import { Readers } from '../readers.ts'
import { createBook } from '../records.ts'
import { atLeast, atMost, type Figure, holds, none, type Row, told } from '../row.ts'
import { startService } from '../service.ts'
import { compareStored } from '../stored.ts'
import { Writers } from '../writers.ts'

const FILLINGS = 5
const MEBIBYTE = 1024 * 1024
const DISK = 16 * MEBIBYTE
const ROOM = 2 * MEBIBYTE
const STAYS_FULL_MS = 1000
const SUCCESS_MS = 1000

export const diskFull: Row = {
  name: 'disk-full',
  title: 'Disk full during writes on SQLite',
  how: `The database lies on a file system of ${DISK / MEBIBYTE} MiB in memory (mounted for it, which needs the right to), most of it taken by
another file. Sixteen callers write as above and four read one record. ${FILLINGS} times they write until nothing is accepted any more and
for another second, then the other file gives back ${ROOM / MEBIBYTE} MiB. Writes must be answered right or with 503 and Retry-After, reads
always right. In the end every record is compared as above.`,
  run: async (tell) => {
    using disk = mountDisk()
    return await fillDisk(disk.path, tell)
  },
}

async function fillDisk(path: string, tell: (line: string) => void): Promise<Figure[]> {
  const other = join(path, 'other')
  let taken = (FILLINGS + 1) * ROOM
  await writeFile(other, Buffer.alloc(taken))
  await using place = await sqlitePlace(path)
  await using service = await startService(place.url)
  const readers = new Readers(service.url, '/books/1', await createBook(service.url))
  const writers = new Writers(service.url, { mayBreak: false })
  const { ledger } = writers
  let slowest = 0
  let leastRefusals = Number.POSITIVE_INFINITY
  for (let filling = 0; filling < FILLINGS && ledger.wrong.length === 0; filling++) {
    await nothingIsAccepted(writers)
    const refused = ledger.refusals
    await readers.answered(100)
    await sleep(STAYS_FULL_MS)
    leastRefusals = Math.min(leastRefusals, ledger.refusals - refused)
    taken -= ROOM
    await truncate(other, taken)
    const returned = performance.now()
    await writers.acknowledged(1)
    slowest = Math.max(slowest, performance.now() - returned)
  }
  await readers.stop()
  await writers.stop()
  const { lost, doubled } = await compareStored(service.url, ledger)
  const fault = await place.check()
  const wrong = [...readers.wrong, ...ledger.wrong]
  for (const line of [...wrong, ...lost, ...doubled].slice(0, 10)) tell(line)
  return [
    told('reads answered, writes acknowledged', `${readers.right}, ${ledger.acknowledged}`),
    none('wrong answers', wrong.length),
    none('reads refused', readers.refusals),
    atLeast('answers 503 with Retry-After, each time it was full', leastRefusals, 1, ''),
    atMost('first write after room returned, slowest', slowest, SUCCESS_MS, 'ms'),
    none('acknowledged writes lost', lost.length),
    none('half done or doubled', doubled.length),
    holds('database check clean', fault === undefined, fault),
  ]
}

async function nothingIsAccepted({ ledger }: Writers): Promise<void> {
  for (let before = -1; before !== ledger.acknowledged && ledger.wrong.length === 0; ) {
    before = ledger.acknowledged
    await sleep(500)
  }
}

/** @throws Error where the machine does not let this be done */
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
