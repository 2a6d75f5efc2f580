import { contract } from '@resource/contract'
import { ask } from './ask.ts'

/** Something that a request can be sent to. */
export interface Target {
  /** As it stands in the request line. */
  path: string
  /** Header lines that lead the request there. */
  headers: readonly string[]
}

// The key that the requests carry is the first record of its kind, which must not be revoked.
const ID = 2

const RECORD = {
  id: ID,
  name: 'Ada',
  email: 'ada@example.com',
  // No role of a key: else the requests would create keys.
  role: 'user',
  status: 'active',
  price: 2.5,
  title: 'Emma',
  author: 'Jane Austen',
  published_date: '1815-12-23',
}
/** A body that is right for most operations, REST and tRPC: fields that an operation does not know are dropped. */
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
 * Every path of the service: REST from its OpenAPI document, each procedure of the contract over tRPC in the plain form, in
 * the streamed form that only tRPC's own adapter answers, and twice in a batch; pages with their files, the console,
 * health and metrics.
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

/** Makes records for the requests to meet. @returns a key of the role `admin`, which is the first */
export async function prepare(url: string): Promise<string> {
  await ask(`${url}/items/bulk`, { json: Array(3).fill({ name: 'Lamp', price: 2 }), status: 201 })
  const { key } = JSON.parse(await ask(`${url}/api/keys`, { json: { name: 'hostile', role: 'admin' }, status: 201 }))
  return key
}

async function filesOf(page: string): Promise<string[]> {
  const html = await ask(page)
  return [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path as string)
}
