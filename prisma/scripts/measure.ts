// What the two ways to the tables cost beside a hand-written program on the same engine, in one run: `pnpm run measure`.
// The figures are in docs/database.md. CPU time of the process, medians of interleaved rounds.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { createDatabase, type Database } from '../src/index.ts'

const ROWS = Number(process.argv[2] ?? 20_000)
const ROUNDS = 7

interface Program {
  find: (id: number) => unknown
  page: (role: string) => unknown
  insert: () => unknown
  update: (id: number) => unknown
  bulk: () => unknown
}

const calls: Record<keyof Program, number> = { find: 2000, page: 500, insert: 300, update: 300, bulk: 3 }
const directory = mkdtempSync(join(tmpdir(), 'measure-'))
const file = join(directory, 'measure.db')
const now = new Date()
let next = 0

const user = () => {
  const n = next++
  return {
    name: `User ${n}`,
    email: `user${n}@example.com`,
    email_key: `user${n}@example.com`,
    role: n % 10 === 0 ? 'admin' : 'user',
    status: 'active',
    created_at: now,
    updated_at: now,
  }
}
const users = () => Array.from({ length: 1000 }, user)

function through(database: Database): Program {
  const order = { column: 'id', descending: false } as const
  return {
    find: (id) => database.read.users.find({ id }),
    page: (role) => database.read.users.page({ where: { role }, order, take: 20 }),
    insert: () => database.write((tx) => tx.users.insert(user())),
    update: (id) => database.write((tx) => tx.users.update(id, undefined, { name: 'Ada', updated_at: new Date() })),
    bulk: () => database.write((tx) => tx.users.insertMany(users())),
  }
}

function byHand(): Program {
  const sqlite = new Sqlite(file)
  sqlite.pragma('synchronous = FULL')
  const byId = sqlite.prepare('SELECT * FROM users WHERE id = ?')
  const byRole = sqlite.prepare('SELECT * FROM users WHERE role = ? ORDER BY id LIMIT 20')
  const insert = sqlite.prepare(
    `INSERT INTO users (name, email, email_key, role, status, created_at, updated_at)
     VALUES (@name, @email, @email_key, @role, @status, @created_at, @updated_at)`,
  )
  const update = sqlite.prepare('UPDATE users SET name = ?, updated_at = ?, version = version + 1 WHERE id = ?')
  const add = (row = user()) => insert.run({ ...row, created_at: now.getTime(), updated_at: now.getTime() })
  return {
    find: (id) => byId.get(id),
    page: (role) => byRole.all(role),
    insert: () => add(),
    update: (id) => {
      update.run('Ada', Date.now(), id)
      return byId.get(id)
    },
    bulk: sqlite.transaction(() => users().map(add)),
  }
}

async function microseconds(program: Program, work: keyof Program): Promise<number> {
  const start = process.cpuUsage()
  for (let i = 0; i < calls[work]; i++) {
    const id = 1 + ((i * 7919) % ROWS)
    if (work === 'page') await program.page('admin')
    else await program[work](id)
  }
  const { user, system } = process.cpuUsage(start)
  return (user + system) / calls[work]
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number
const megabytes = () => (process.memoryUsage().rss / 1e6).toFixed(0)

const prepared = await createDatabase(`file:${file}`)
while (next < ROWS) await prepared.write((tx) => tx.users.insertMany(users()))
const hand = byHand()

/** Rounds of each program in turn, so that what else the machine does is the same to all. */
async function compare(names: string[], programs: Program[]): Promise<void> {
  for (const work of Object.keys(calls) as (keyof Program)[]) {
    const rounds = programs.map(() => [] as number[])
    for (let i = 0; i < ROUNDS; i++) {
      for (const [index, program] of programs.entries()) rounds[index]?.push(await microseconds(program, work))
    }
    const [limit = Number.NaN, ...others] = rounds.map(median)
    const told = others.map((cost, index) => `${names[index]} ${cost.toFixed(1)} µs (${(cost / limit).toFixed(2)}x)`)
    console.log(`${work}: by hand ${limit.toFixed(1)} µs, ${told.join(', ')}`)
  }
}

console.log(`resident with ${ROWS} users stored: ${megabytes()} MB`)
await compare(['prepared'], [hand, through(prepared)])
console.log(`resident after prepared statements: ${megabytes()} MB`)
const prisma = await createDatabase(`file:${file}`, { access: 'prisma' })
await compare(['prepared', 'Prisma'], [hand, through(prepared), through(prisma)])
console.log(`resident after Prisma: ${megabytes()} MB`)

await prepared.close()
await prisma.close()
rmSync(directory, { recursive: true })
