// What Prisma costs beside prepared statements on the same engine, in one run: `pnpm run measure`. The figures are in
// docs/database.md. CPU time of the process, medians of interleaved rounds.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { createDatabase } from '../src/index.ts'

const ROWS = 20_000
const ROUNDS = 7
const CALLS = 500

const directory = mkdtempSync(join(tmpdir(), 'measure-'))
const file = join(directory, 'measure.db')
const database = await createDatabase(`file:${file}`)
const now = new Date()
const user = (n: number) => ({
  name: `User ${n}`,
  email: `user${n}@example.com`,
  email_key: `user${n}@example.com`,
  role: n % 10 === 0 ? 'admin' : 'user',
  status: 'active',
  created_at: now,
  updated_at: now,
})
for (let n = 0; n < ROWS; n += 1000) {
  const data = Array.from({ length: 1000 }, (_, i) => user(n + i))
  await database.write((tx) => tx.user.createMany({ data }))
}

const sqlite = new Sqlite(file)
sqlite.pragma('synchronous = FULL')
const byId = sqlite.prepare('SELECT * FROM users WHERE id = ?')
const byRole = sqlite.prepare('SELECT * FROM users WHERE role = ? ORDER BY id LIMIT 20')
const insert = sqlite.prepare(
  `INSERT INTO users (name, email, email_key, role, status, created_at, updated_at)
   VALUES (@name, @email, @email_key, @role, @status, @created_at, @updated_at) RETURNING *`,
)
let next = ROWS
const row = () => {
  const data = user(next++)
  return { ...data, created_at: data.created_at.getTime(), updated_at: data.updated_at.getTime() }
}

const work: Record<string, { prisma: () => Promise<unknown>; prepared: () => unknown }> = {
  'one by id': {
    prisma: () => database.read.user.findUnique({ where: { id: 1 + (next++ % ROWS) } }),
    prepared: () => byId.get(1 + (next++ % ROWS)),
  },
  '20 by role': {
    prisma: () => database.read.user.findMany({ where: { role: 'admin' }, orderBy: { id: 'asc' }, take: 20 }),
    prepared: () => byRole.all('admin'),
  },
  'create one (on disk)': {
    prisma: () => database.write((tx) => tx.user.create({ data: user(next++) })),
    prepared: () => insert.get(row()),
  },
}

async function microseconds(call: () => unknown): Promise<number> {
  const start = process.cpuUsage()
  for (let i = 0; i < CALLS; i++) await call()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / CALLS
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number

for (const [name, { prisma, prepared }] of Object.entries(work)) {
  const rounds = { prisma: [] as number[], prepared: [] as number[] }
  for (let i = 0; i < ROUNDS; i++) {
    rounds.prisma.push(await microseconds(prisma))
    rounds.prepared.push(await microseconds(prepared))
  }
  const [slow, fast] = [median(rounds.prisma), median(rounds.prepared)]
  console.log(`${name}: Prisma ${slow.toFixed(0)} µs, prepared ${fast.toFixed(1)} µs, ${(slow / fast).toFixed(1)}x`)
}
console.log(`resident memory afterwards: ${(process.memoryUsage().rss / 1e6).toFixed(0)} MB`)

sqlite.close()
await database.close()
rmSync(directory, { recursive: true })
