// CPU of a write while one subscriber, in a process of its own, follows all changes, as a ratio to that without a subscriber:
// `node bench/scripts/followed-writes.ts [postgresql]`. A second server sends as many bytes to a process while nobody follows:
// the reader's own work slows down everything else on a small machine.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent } from 'undici'
import { openPostgresql } from '../src/engines/postgresql.ts'
import { openSqlite } from '../src/engines/sqlite.ts'
import { programs } from '../src/programs.ts'
import { startServer } from '../src/server.ts'
import { ratioOf, spread } from '../src/statistics.ts'

const ROUNDS = 25
const ROWS = 10_000
const WRITES = 1500
const CONNECTIONS = 8
const PART = Buffer.alloc(6000, 'x')
const PART_MS = 10
const READER = `require('node:http').get(process.argv[1], { headers: { accept: 'text/event-stream' } }, (answer) => answer.resume())`

const ours = programs.find(({ name }) => name === 'ours')
if (ours === undefined) throw new Error('The service is not among the programs.')
await using folder = await mkdtempDisposable(join(tmpdir(), 'followed-'))
await using engine = process.argv[2] === 'postgresql' ? await openPostgresql() : await openSqlite(folder.path)
await engine.seed(ROWS)
await using followedCopy = await engine.copy(ROWS, 'followed')
await using aloneCopy = await engine.copy(ROWS, 'alone')
await using followed = await startServer(ours, followedCopy.url)
await using alone = await startServer(ours, aloneCopy.url)
let other: ServerResponse | undefined
const parts = createServer((_request, answer) => {
  other = answer
  answer.write(PART)
}).listen(0, '127.0.0.1')
await once(parts, 'listening')
const readers = [`${followed.url}/api/changes`, `http://127.0.0.1:${(parts.address() as AddressInfo).port}`].map(
  (url) => spawn(process.execPath, ['-e', READER, url], { stdio: 'inherit' }),
)

const agent = new Agent({ connections: CONNECTIONS })
let count = 0
const operations = {
  create: () => ['POST', '/items/'] as const,
  update: (n: number) => ['PUT', `/items/${1 + ((n * 7919) % ROWS)}`] as const,
}
type Operation = keyof typeof operations

/** CPU per write in µs. */
async function cpu(server: typeof followed, operation: Operation): Promise<number> {
  const { cpu: before } = await server.usage()
  const sending = server === alone ? setInterval(() => other?.write(PART), PART_MS) : undefined
  let left = WRITES
  const write = async () => {
    while (left-- > 0) {
      const [method, path] = operations[operation](++count)
      const body = JSON.stringify({ name: `Lamp ${count}`, price: (count % 1000) / 10, category: 'lighting' })
      const headers = { 'content-type': 'application/json' }
      const answer = await agent.request({ origin: server.url, method, path, body, headers })
      if (answer.statusCode >= 300)
        throw new Error(`${method} ${path}: ${answer.statusCode} ${await answer.body.text()}`)
      await answer.body.dump()
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, write))
  clearInterval(sending)
  return ((await server.usage()).cpu - before) / WRITES
}

try {
  for (const server of [followed, alone]) for (let n = 0; n < 3; n++) await cpu(server, 'create')
  for (const operation of Object.keys(operations) as Operation[]) {
    const rounds = { followed: [] as number[], alone: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      const measure = {
        followed: async () => rounds.followed.push(await cpu(followed, operation)),
        alone: async () => rounds.alone.push(await cpu(alone, operation)),
      }
      // What comes second may meet a warmer machine.
      if (round % 2 === 0) await measure.followed()
      await measure.alone()
      if (round % 2 === 1) await measure.followed()
    }
    const more = (ratioOf(rounds.followed, rounds.alone) - 1) * 100
    const us = (values: number[]) => spread(values).median.toFixed(0)
    console.log(`${operation}: ${more.toFixed(1)} %, ${us(rounds.followed)} µs instead of ${us(rounds.alone)}`)
  }
} finally {
  for (const reader of readers) reader.kill()
  parts.close()
  parts.closeAllConnections()
  await agent.close()
}
