// What a process holds that reads and writes SQLite through Prisma alone, or by `prepared` statements:
// `node --expose-gc scripts/measure-memory.ts [prepared]`. The figures are in docs/database.md. Megabytes after a full
// collection: the heap, what it knows of outside itself, and resident.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { createDatabase } from '../src/index.ts'

const CALLS = 20_000
const ROWS = 1_000
// As the requests of a server do; what is freed on a turn of the event loop is freed then.
const CALLS_PER_TURN = 20

const folder = mkdtempSync(join(tmpdir(), 'memory-'))
const url = `file:${join(folder, 'memory.db')}`

const collect = globalThis.gc ?? (() => {})

async function measure(access: 'prepared' | 'prisma') {
  const database = await createDatabase(url, { access })
  const { users } = database.read
  const by = (where: object) => users.page({ where, order: { column: 'id', descending: false }, take: 20 })
  tell(`${access}: opened`)
  for (const [name, call] of Object.entries({
    'one shape, one value': () => users.find({ id: 1 }),
    'one shape, other values': (n: number) => users.find({ id: 1 + (n % ROWS) }),
    'lists of one shape, other values': (n: number) => by({ age: n % 100 }),
    'lists of IN, other lengths': (n: number) =>
      database.write((tx) =>
        tx.users.update(
          ROWS + 1,
          Array.from({ length: 1 + (n % 300) }, (_, i) => i),
          { age: 1 },
        ),
      ),
  })) {
    for (let n = 0; n < CALLS; n++) {
      await call(n)
      if (n % CALLS_PER_TURN === 0) await setImmediate()
      if (n === CALLS / 2) tell(`${access}: ${name}, ${n} calls`)
    }
    tell(`${access}: ${name}, ${CALLS} calls`)
  }
  await database.close()
}

function tell(what: string): void {
  collect()
  const { heapUsed, external, rss } = process.memoryUsage()
  console.log(`${what}: ${[heapUsed, external, rss].map((bytes) => (bytes / 1e6).toFixed(0)).join(' / ')} MB`)
}

const seeding = await createDatabase(url)
const now = new Date()
await seeding.write((tx) =>
  tx.users.insertMany(
    Array.from({ length: ROWS }, (_, n) => ({
      name: `User ${n}`,
      email: `user${n}@example.com`,
      email_key: `user${n}@example.com`,
      role: 'user',
      status: 'active',
      age: n % 100,
      created_at: now,
      updated_at: now,
    })),
  ),
)
await seeding.close()
await measure(process.argv[2] === 'prepared' ? 'prepared' : 'prisma')
rmSync(folder, { recursive: true })
