// CPU per request of one tRPC router served by `fromRouter` and by trpc-to-openapi: `node bench/scripts/adapters.ts`.
// Measured on Express over sockets, where both values include node:http and Express, and as a fetch handler without sockets.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { fromRouter } from '@resource/openapi/from-router'
import { initTRPC } from '@trpc/server'
import express, { type RequestHandler } from 'express'
import { createOpenApiExpressMiddleware, createOpenApiFetchHandler, type OpenApiMeta } from 'trpc-openapi'
import { z } from 'zod'
import { Load } from '../src/load.ts'
import { ratioOf, spread } from '../src/statistics.ts'

const ROUNDS = 7
const REQUESTS = 4000

const t = initTRPC.meta<OpenApiMeta>().create({ isDev: false })
const item = z.object({ id: z.number(), name: z.string(), price: z.number(), tags: z.array(z.string()) })
const items = Array.from({ length: 25 }, (_, id) => ({ id, name: `Item ${id}`, price: id / 4, tags: ['a', 'b'] }))

// As many procedures as the service has, defined before the measured ones, so that routing must search past them.
const others = Array.from({ length: 23 }, (_, n) => [
  `other${n}`,
  t.procedure
    .meta({ openapi: { method: (['GET', 'POST', 'PUT'] as const)[n % 3] as 'GET', path: `/others/{id}/part${n}` } })
    .input(z.object({ id: z.number() }))
    .output(item)
    .mutation(({ input: { id } }) => ({ ...items[0], id }) as z.infer<typeof item>),
])

const router = t.router({
  ...Object.fromEntries(others),
  get: t.procedure
    .meta({ openapi: { method: 'GET', path: '/items/{id}' } })
    .input(z.object({ id: z.number() }))
    .output(item)
    .query(({ input: { id } }) => ({ ...items[0], id }) as z.infer<typeof item>),
  list: t.procedure
    .meta({ openapi: { method: 'GET', path: '/items' } })
    .input(z.object({ limit: z.number().default(25), name: z.string().optional() }))
    .output(z.array(item))
    .query(({ input: { limit } }) => items.slice(0, limit)),
  create: t.procedure
    .meta({ openapi: { method: 'POST', path: '/items' } })
    .input(item.omit({ id: true }))
    .output(item)
    .mutation(({ input }) => ({ id: 1, ...input })),
})

const body = JSON.stringify({ name: 'Lamp', price: 24.5, tags: ['light', 'home'] })
const CALLS = {
  get: { method: 'GET', path: '/items/7' },
  list: { method: 'GET', path: '/items?limit=25' },
  create: { method: 'POST', path: '/items', body },
} as const
type Workload = keyof typeof CALLS

const fixedBody = JSON.stringify(items[0])

const HANDLERS = {
  // The base cost of Node.js, Express and the fetch classes without an adapter.
  none: {
    express: (): RequestHandler => (req, res) => {
      req.resume()
      res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': fixedBody.length }).end(fixedBody)
    },
    fetch: () => async () =>
      new Response(fixedBody, {
        headers: { 'Content-Type': 'application/json', 'Content-Length': `${fixedBody.length}` },
      }),
  },
  ours: {
    express: () => fromRouter(router).express().handle,
    fetch: () => fromRouter(router).fetch(),
  },
  'trpc-to-openapi': {
    express: () => createOpenApiExpressMiddleware({ router, createContext: () => ({}) }) as RequestHandler,
    fetch: () => (req: Request) => createOpenApiFetchHandler({ router, req, endpoint: '/', createContext: () => ({}) }),
  },
}
type Adapter = keyof typeof HANDLERS
type Host = 'express' | 'fetch'

const [, , host, adapter] = process.argv as [string, string, Host?, Adapter?]
if (host === undefined || adapter === undefined) await compare()
else if (host === 'express') await serveExpress(adapter)
else serveFetch(adapter)

async function compare(): Promise<void> {
  for (const host of ['express', 'fetch'] as const) {
    const programs = await Promise.all((Object.keys(HANDLERS) as Adapter[]).map((adapter) => start(host, adapter)))
    for (const workload of Object.keys(CALLS) as Workload[]) {
      // Round 0 is a warm-up.
      for (let round = 0; round <= ROUNDS; round++) {
        for (const program of programs) {
          const cpu = await program.measure(workload)
          if (round > 0) program.rounds[workload].push(cpu)
        }
      }
      const all = programs.map(({ rounds }) => rounds[workload]) as [number[], number[], number[]]
      const [base, ours, peer] = all.map((rounds) => spread(rounds).median.toFixed(1))
      const ratio = ratioOf(all[1], all[2]).toFixed(2)
      console.log(
        `${host} ${workload}: ${ours} µs, trpc-to-openapi ${peer} µs, no adapter ${base} µs; ratio to trpc-to-openapi ${ratio}`,
      )
    }
    for (const { child } of programs) child.disconnect()
  }
}

async function start(host: Host, adapter: Adapter) {
  const child = fork(fileURLToPath(import.meta.url), [host, adapter], {
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const [url] = (await once(child, 'message')) as [string]
  const load = host === 'express' ? new Load(url, 8) : undefined
  const measure = async (workload: Workload): Promise<number> => {
    if (load === undefined) return ask(child, workload)
    const before = await ask(child, 'usage')
    let left = REQUESTS
    await load.run(
      () => CALLS[workload],
      200,
      8,
      () => left-- > 0,
    )
    return ((await ask(child, 'usage')) - before) / REQUESTS
  }
  return { child, measure, rounds: { get: [], list: [], create: [] } as Record<Workload, number[]> }
}

async function ask(child: ChildProcess, what: string): Promise<number> {
  child.send(what)
  const [answer] = await once(child, 'message')
  return answer
}

function usage(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

async function serveExpress(adapter: Adapter): Promise<void> {
  const app = express().use(HANDLERS[adapter].express())
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.on('message', () => process.send?.(usage()))
  process.on('disconnect', () => process.exit())
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

function serveFetch(adapter: Adapter): void {
  const handle = HANDLERS[adapter].fetch()
  process.on('message', async (workload: Workload) => {
    const { method, path } = CALLS[workload]
    const headers = { 'content-type': 'application/json' }
    const before = usage()
    for (let n = 0; n < REQUESTS; n++) {
      const init = method === 'POST' ? { method, headers, body } : { method }
      const response = await handle(new Request(`http://127.0.0.1${path}`, init))
      if (response.status !== 200) throw new Error(`${path} got status ${response.status}`)
      await response.text()
    }
    process.send?.((usage() - before) / REQUESTS)
  })
  process.on('disconnect', () => process.exit())
  process.send?.('')
}
