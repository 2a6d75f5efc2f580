import { setTimeout } from 'node:timers/promises'
import { createClient } from '@resource/client'
import { expect, test } from 'vitest'
import { spawnService, temporaryFolder } from './service-process.ts'

// A start takes a second of CPU time for each. Four contend for locks, otherwise two are enough.
const WORKERS = 2

type Service = ReturnType<typeof spawnService>

/** The URL and the process ids of all workers, once they serve. */
async function started(service: Service, workers = WORKERS) {
  const pids = () =>
    service.lines.map((line) => JSON.parse(line)).flatMap(({ url, pid }) => (url === undefined ? [] : [pid as number]))
  await expect.poll(() => pids().length).toBe(workers)
  return { url: await service.url(), pids: pids() }
}

/** The statuses of `count` requests, with limited concurrency: a write that is queued for five seconds is refused. */
async function statuses(count: number, concurrency: number, send: (n: number) => Promise<Response>) {
  const seen: number[] = []
  let next = 0
  const served = async (n: number): Promise<number> => {
    const answer = await send(n)
    if (answer.status !== 503) return answer.status
    // On a busy machine one process may get most of the connections, and refuse some for overload.
    const text = await answer.text()
    if (!text.includes('The service is overloaded')) throw new Error(text)
    await setTimeout(100)
    return served(n)
  }
  const sendNext = async () => {
    while (next < count) seen.push(await served(next++))
  }
  await Promise.all(Array.from({ length: concurrency }, sendNext))
  return Object.groupBy(seen, String)
}

test('four processes serve one database: no write fails because of another’s lock, and each happens once', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { WORKERS: '4' })
  const { url } = await started(service, 4)
  // Each request uses a new connection, so that all workers get a share.
  const send = (path: string, body: object, headers = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Connection: 'close', ...headers },
      body: JSON.stringify(body),
    })
  const [created, repeated, contested] = await Promise.all([
    statuses(600, 60, (n) => send('/items/', { name: `Item ${n}`, price: n })),
    statuses(50, 20, () => send('/users', { name: 'Ada', email: 'ada@example.com' }, { 'Idempotency-Key': 'k' })),
    statuses(50, 20, (n) => send('/users', { name: `Bob ${n}`, email: 'bob@example.com' })),
  ])
  expect(created).toEqual({ 201: Array(600).fill(201) })
  expect(repeated).toEqual({ 201: Array(50).fill(201) })
  expect(contested).toEqual({ 201: [201], 409: Array(49).fill(409) })
  const served = new Set(service.lines.map((line) => JSON.parse(line)).map(({ msg, pid }) => msg === 'request' && pid))
  served.delete(false)
  expect(served.size).toBe(4)

  const client = createClient({ baseUrl: url })
  expect(await client.items.list.query({ count: true, limit: 1 })).toMatchObject({ total: 600 })
  expect(await client.users.list.query({ count: true, limit: 1 })).toMatchObject({ total: 2 })
})

test('the metrics of one worker cover all workers', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { WORKERS: String(WORKERS) })
  const { url, pids } = await started(service)
  const send = (path: string) => fetch(`${url}${path}`, { headers: { Connection: 'close' } })
  const get = async (path: string) => (await send(path)).text()
  expect(await statuses(200, 20, () => send('/items'))).toEqual({ 200: Array(200).fill(200) })
  const served = () =>
    new Set(service.lines.map((line) => JSON.parse(line)).flatMap(({ path, pid }) => (path === '/items' ? [pid] : [])))
  await expect.poll(() => served().size).toBeGreaterThan(1)
  const scrapes = await Promise.all(Array.from({ length: 8 }, () => get('/metrics')))
  for (const text of scrapes) {
    expect(text).toContain('resource_call_duration_seconds_count{procedure="items.list",outcome="ok"} 200\n')
  }
  // The metrics are available while a worker is missing and its replacement starts.
  process.kill(pids[1] as number, 'SIGKILL')
  await service.logged(({ msg }) => msg.startsWith('worker died'))
  let isBack = false
  const back = service
    .logged(({ url, pid }) => url !== undefined && !pids.includes(pid as number))
    .then(() => (isBack = true))
  while (!isBack) expect(await get('/metrics')).toContain('resource_http_requests_open ')
  await back
})

test('a killed worker is replaced, and the client sees no error', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { WORKERS: String(WORKERS) })
  const { url, pids } = await started(service)
  const client = createClient({ baseUrl: url, retryForMs: 20_000 })
  const writes = Array.from({ length: 50 }, (_, n) => client.items.create.mutate({ name: `Item ${n}`, price: n }))
  process.kill(pids[1] as number, 'SIGKILL')
  await Promise.all(writes)
  expect(await service.logged(({ msg }) => msg.startsWith('worker died'))).toMatchObject({
    worker: pids[1],
    signal: 'SIGKILL',
  })
  await service.logged(({ url, pid }) => url !== undefined && !pids.includes(pid as number))
  expect(await client.items.list.query({ count: true, limit: 1 })).toMatchObject({ total: 50 })
})

test('no client of a killed worker waits in vain: each gets a response or a closed connection', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { WORKERS: String(WORKERS) })
  const { url, pids } = await started(service)
  const outcomes = new Set<string>()
  let isReplaced = false
  const clients = Array.from({ length: 10 }, async () => {
    while (!isReplaced) {
      // Each request uses a new connection, which the primary process hands to a worker.
      const options = { headers: { Connection: 'close' }, signal: AbortSignal.timeout(60_000) }
      const outcome = fetch(`${url}/items/1`, options)
      outcomes.add(
        await outcome.then(
          ({ status }) => String(status),
          ({ name }) => name,
        ),
      )
    }
  })
  await expect.poll(() => outcomes.has('404')).toBe(true)
  process.kill(pids[1] as number, 'SIGKILL')
  await service.logged(({ url, pid }) => url !== undefined && !pids.includes(pid as number))
  isReplaced = true
  await Promise.all(clients)
  expect(outcomes).not.toContain('TimeoutError')
})

test('a worker that hangs is killed and replaced, and its clients do not wait in vain', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { WORKERS: String(WORKERS) })
  const { url, pids } = await started(service)
  const [hung] = pids
  process.kill(hung as number, 'SIGSTOP')
  // Each request uses a new connection, which the primary process hands to a worker.
  const requests = Array.from({ length: 40 }, () =>
    fetch(`${url}/items`, { headers: { Connection: 'close' } }).then(
      ({ status }) => status,
      () => 'closed',
    ),
  )
  expect(await service.logged(({ msg }) => msg.startsWith('worker does not respond'))).toMatchObject({ worker: hung })
  await service.logged(({ url, pid }) => url !== undefined && !pids.includes(pid as number))
  const outcomes = await Promise.all(requests)
  expect(outcomes.filter((outcome) => outcome === 'closed').length).toBeLessThanOrEqual(1)
  expect(outcomes).toContain(200)
})

test('SIGTERM ends all workers with code 0, and no worker outlives a killed primary process', async () => {
  await using folder = await temporaryFolder()
  for (const [signal, code] of [
    ['SIGTERM', 0],
    ['SIGKILL', null],
  ] as const) {
    await using service = spawnService(folder.path, { WORKERS: String(WORKERS) })
    const { url } = await started(service)
    service.signal(signal)
    expect(await service.exited).toEqual({ code, stderr: '' })
    const outcome = () => fetch(`${url}/healthz`).catch(({ cause }) => cause.code)
    await expect.poll(outcome).toBe('ECONNREFUSED')
  }
})

test('an error that prevents the start of workers is printed once, with exit code 1', async () => {
  await using folder = await temporaryFolder()
  await using service = spawnService(folder.path, { WORKERS: String(WORKERS), DATABASE_URL: 'file:.' })
  const { code, stderr } = await service.exited
  expect(code).toBe(1)
  expect(stderr.match(/cannot be opened/g)).toHaveLength(1)
})
