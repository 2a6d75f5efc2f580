import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { spawnService, temporaryFolder } from './service-process.ts'

const LONG_WRITES = 10
// The rows of each: it takes longer than the turn of a process.
const ROWS = 300
const ROUNDS = 15
// On average. More are stored in a round in which the machine lets the short write arrive late; without turns it waits for three.
const MAX_WAITED = 2

/** A service of two processes with connections to each, and a lock of its file. */
async function twoProcesses(folder: string) {
  const service = spawnService(folder, { WORKERS: '2', RATE_LIMIT: '0' })
  const url = await service.url()
  const send = async (agent: Agent, key: string | undefined, method: string, path: string, body?: object) => {
    const headers = { 'Content-Type': 'application/json', ...(key && { Authorization: `Bearer ${key}` }) }
    const sent = request(url + path, { agent, method, headers })
    sent.end(body && JSON.stringify(body))
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    const chunks = await answer.toArray()
    return { status: answer.statusCode, text: chunks.join('') }
  }
  const newAgent = () => new Agent({ keepAlive: true, maxSockets: 1 })
  const monitor = newAgent()
  const keyOf = async (name: string, by?: string) => {
    const { text } = await send(monitor, by, 'POST', '/api/keys', { name, role: 'admin' })
    return JSON.parse(text).key as string
  }
  const otherKey = await keyOf('other')
  const busyKey = await keyOf('busy', otherKey)
  const agents = new Map<number, Agent[]>()
  for (let id = 1; agents.size < 2 || [...agents.values()].some(({ length }) => length < LONG_WRITES); id++) {
    const agent = newAgent()
    await send(agent, busyKey, 'GET', `/items/${id}`)
    const { pid } = await service.logged(({ path }) => path === `/items/${id}`)
    agents.set(pid as number, [...(agents.get(pid as number) ?? []), agent])
  }
  const [[busyPid, busy], [, [other]]] = [...agents] as [[number, Agent[]], [number, [Agent]]]
  /** Resolves once the processes have received so many requests. */
  const received = (count: number) =>
    expect
      .poll(async () => {
        const { text } = await send(monitor, otherKey, 'GET', '/metrics')
        return Number(/^resource_http_requests_open (\d+)$/m.exec(text)?.[1])
      })
      // With that for the metrics.
      .toBe(count + 1)
  const file = new DatabaseSync(join(folder, 'data/resource.db'), { timeout: 5_000 })
  return {
    ...{ service, busyPid, received, file },
    /** Long writes of one caller, each on a connection of its own to the same process. */
    long: (write: (n: number) => [method: string, path: string, body: object]) =>
      busy.slice(0, LONG_WRITES).map((agent, n) => send(agent, busyKey, ...write(n))),
    /** A short write of another caller to the other process. */
    short: () => send(other, otherKey, 'POST', '/items', { name: 'Chair', price: 1 }),
  }
}

const create = (n: number): [string, string, object] => [
  'POST',
  '/items/bulk',
  Array.from({ length: ROWS }, () => ({ name: 'Lamp', price: 1, category: `c${n}` })),
]
const change = (n: number): [string, string, object] => ['PATCH', `/items?category=c${n}`, { add: { price: 1 } }]

test('a short write in one process goes before most of the long writes of another caller that wait in another process', async () => {
  await using folder = await temporaryFolder()
  const { service, file, long, short } = await twoProcesses(folder.path)
  await using _ = service
  await Promise.all(long(create))
  const stored = file.prepare(
    `SELECT count(DISTINCT request_id) AS writes FROM audit_entries WHERE procedure = 'items.updateWhere' AND id < ?`,
  )
  const storedBefore = (id = Number.MAX_SAFE_INTEGER) => Number(stored.get(id)?.writes)
  let waited = 0
  for (let round = 0; round < ROUNDS; round++) {
    const changes = long(change)
    while (storedBefore() <= round * LONG_WRITES) await setImmediate()
    const start = storedBefore()
    const chair = short()
    const statuses = (await Promise.all([chair, ...changes])).map(({ status }) => status)
    expect(statuses).toEqual([201, ...Array(LONG_WRITES).fill(200)])
    const entry = file.prepare("SELECT max(id) AS id FROM audit_entries WHERE procedure = 'items.create'").get()
    waited += storedBefore(Number(entry?.id)) - start
  }
  file.close()
  expect(waited / ROUNDS).toBeLessThan(MAX_WAITED)
})

test('a process that is killed when its turn has come does not stop the writes of others', async () => {
  await using folder = await temporaryFolder()
  const { service, busyPid, received, file, long, short } = await twoProcesses(folder.path)
  await using _ = service
  file.exec('BEGIN IMMEDIATE')
  const lost = Promise.all(long(create)).catch(({ code }) => code)
  await received(LONG_WRITES)
  const chair = short()
  await received(LONG_WRITES + 1)
  process.kill(busyPid, 'SIGKILL')
  expect(await lost).toBe('ECONNRESET')
  file.exec('ROLLBACK')
  expect(await chair).toMatchObject({ status: 201 })
  expect(file.prepare('SELECT name FROM items').all()).toEqual([{ name: 'Chair' }])
  file.close()
})
