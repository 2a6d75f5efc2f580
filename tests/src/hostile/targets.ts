import { contract } from '@resource/contract'
import { ask } from './ask.ts'

/** An endpoint of the service. */
export interface Target {
  /** The request target, with query. */
  path: string
  /** Header lines that select the endpoint. */
  headers: readonly string[]
}

// Not 1: the API key with id 1 authenticates the requests and must not be revoked by them.
const ID = 2

const RECORD = {
  id: ID,
  name: 'Ada',
  email: 'ada@example.com',
  // Not a role of API keys, so that the requests create none.
  role: 'user',
  status: 'active',
  price: 2.5,
  title: 'Emma',
  author: 'Jane Austen',
  published_date: '1815-12-23',
}
/** A valid body for most REST and tRPC operations, which drop unknown fields. */
export const BODY = JSON.stringify({
  ...RECORD,
  0: RECORD,
  1: RECORD,
  users: [RECORD],
  books: [RECORD],
  items: [RECORD],
})

const PAGES = ['/', '/docs', '/redoc', '/openapi.json', '/healthz', '/readyz', '/metrics', '/nowhere']
const CONSOLE = ['/console', '/console/users/2', '/console/session', '/console/assets/none.js']

/**
 * Every endpoint of the service: REST paths from the OpenAPI document; each procedure over tRPC as a single call, a batch
 * of two and a streamed batch; pages and their assets; console, health and metrics.
 */
export async function targetsOf(url: string): Promise<Target[]> {
  const { paths } = JSON.parse(await ask(`${url}/openapi.json`)) as { paths: object }
  const plain = [...Object.keys(paths), ...PAGES, ...CONSOLE, ...(await filesOf(`${url}/docs`))].map((path) => ({
    path: path.replace(/\{\w+\}/g, String(ID)),
    headers: [],
  }))
  const input = encodeURIComponent(JSON.stringify({ id: ID }))
  const inputs = encodeURIComponent(JSON.stringify({ 0: { id: ID }, 1: { id: ID } }))
  const calls = Object.entries(contract).flatMap(([noun, { procedures }]) =>
    Object.keys(procedures).flatMap((verb) => {
      const name = `${noun}.${verb}`
      return [
        { path: `/trpc/${name}?input=${input}`, headers: [] },
        { path: `/trpc/${name},${name}?batch=1&input=${inputs}`, headers: [] },
        { path: `/trpc/${name},${name}?batch=1&input=${inputs}`, headers: ['trpc-accept: application/jsonl'] },
      ]
    }),
  )
  return [...plain, ...calls]
}

/** Creates records for the requests. @returns an API key with the role `admin`, whose id is 1 */
export async function prepare(url: string): Promise<string> {
  await ask(`${url}/items/bulk`, { json: Array(3).fill({ name: 'Lamp', price: 2 }), status: 201 })
  const { key } = JSON.parse(await ask(`${url}/api/keys`, { json: { name: 'hostile', role: 'admin' }, status: 201 }))
  return key
}

async function filesOf(page: string): Promise<string[]> {
  const html = await ask(page)
  return [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path as string)
}
