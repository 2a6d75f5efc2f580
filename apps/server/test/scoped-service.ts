import { contract, envelope } from '@resource/contract'
import { createDatabase } from '@resource/database'
import { fetchHandler } from '@resource/openapi'
import type { Caller } from '../src/access/caller.ts'
import { Followers } from '../src/changes/followers.ts'
import { Tailer } from '../src/changes/tailer.ts'
import { newRequestId } from '../src/http/request-id.ts'
import { createOperations } from '../src/operations.ts'
import { readConfig } from '../src/process/config.ts'
import type { AllRules } from '../src/store/collection.ts'
import { startTestServer } from './harness.ts'

// A subject has the items of its category and the books that it wrote. Without a subject there is no scope.
const defaults: Partial<AllRules> = {
  items: {
    scope: ({ role, subject }) => (subject === undefined && role === 'admin' ? undefined : { category: subject }),
  },
  books: { scope: ({ subject }) => (subject === undefined ? undefined : { author: { in: [subject] } }) },
}
export const ada: Caller = { name: 'key 1', subject: 'ada', role: 'admin' }
export const bo: Caller = { name: 'key 2', subject: 'bo', role: 'admin' }
export const root: Caller = { name: 'key 3', role: 'admin' }

export interface Sent {
  json?: object
  headers?: Record<string, string>
}

/** A service with scopes, on a database of its own. */
export async function openService(rules: Partial<AllRules> = defaults) {
  const server = await startTestServer()
  const database = await createDatabase(server.databaseUrl)
  const followers = new Followers(new Tailer(database))
  const operations = createOperations(database, readConfig({}), { followers, needsCredentials: () => true, rules })
  let caller = root
  let requestId = ''
  const handle = fetchHandler(contract, operations, {
    envelope,
    requestId: () => requestId,
    trpc: { path: '/trpc' },
    context: ({ headers }) => ({
      caller,
      requestId,
      read: database.read,
      group: headers.get('x-request-group') ?? undefined,
      ifEffect: headers.get('if-effect')?.slice(1, -1),
    }),
  })
  const send = async (as: Caller, method: string, path: string, { json, headers = {} }: Sent = {}) => {
    caller = as
    requestId = newRequestId()
    const sent = json === undefined ? {} : { body: JSON.stringify(json) }
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: { ...(json && { 'Content-Type': 'application/json' }), ...headers },
      ...sent,
    })
    const { status, headers: answered, body } = await handle(request)
    return { status, headers: answered, body, text: () => new Response(body).text(), requestId }
  }
  return {
    send,
    database,
    [Symbol.asyncDispose]: async () => {
      followers.close()
      followers.tailer.close()
      await database.close()
      await server.stop()
    },
  }
}

export type Service = Awaited<ReturnType<typeof openService>>

export const item = (name: string, price: number, category: string | null) => ({ name, price, category })
