import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type RequestHandler } from 'express'
import { afterAll } from 'vitest'
import { z } from 'zod'
import type { Contract, ErrorForm, Implementation, Procedures } from '../src/contract.ts'
import { resource } from '../src/contract.ts'
import type { ImplementOptions } from '../src/implement.ts'
import { expressHandlers, implement } from '../src/index.ts'
import { envelope } from './sky.ts'

type RestHooks = Parameters<typeof expressHandlers<object>>[2]

export type Hooks = ImplementOptions<object> &
  Partial<Omit<RestHooks, 'onError'>> & { onError?: (error: Error) => void | Promise<void> }

export interface Small {
  port: number
  url: string
  /** The status, headers and body of the response; a body that is not JSON is text. */
  request: (method: string, path: string, sent?: { json?: unknown; headers?: Record<string, string> }) => Promise<Reply>
}

interface Reply {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests access bodies of any shape
  body: any
  headers: Headers
}

const plainForm: ErrorForm = {
  schema: z.object({ error: z.string(), fields: z.array(z.string()) }),
  body: ({ message, fields }) => ({ error: message, fields: fields.map(({ field }) => field) }),
}

export const documentOptions = {
  title: 'Small',
  version: '1.0.0',
  description: 'Small.',
  contact: { name: 'Nobody' },
  license: { name: 'MIT', identifier: 'MIT' },
  credentials: 'None.',
  envelope,
  everywhere: { headers: {}, errors: [] },
}

/** A resource with the given procedures and default metadata. */
export function resourceOf<P extends Procedures>(procedures: P) {
  return resource({ tag: 'Things', description: 'Things.', errorForm: plainForm, procedures })
}

/** Serves a contract on a new server, over REST and at `/trpc`, until the tests of the file end. */
export async function serve<C extends Contract>(
  contract: C,
  implementation: Implementation<C, object>,
  hooks: Hooks = {},
  { before = [], mount = '/' }: { before?: RequestHandler[]; mount?: string } = {},
): Promise<Small> {
  const operations = implement<C, object>(contract, implementation, hooks)
  const { handle, notFound, sendError } = expressHandlers(contract, operations, {
    envelope,
    requestId: () => 'request-1',
    context: () => ({}),
    ...hooks,
    trpc: { bodyLimit: 4096, maxCalls: 10, maxRecords: 1000 },
  })
  const app = express()
  for (const handler of before) app.use(handler)
  app.use(mount, handle, notFound)
  app.use(((error, req, res, _next) => sendError(error, req, res)) as express.ErrorRequestHandler)
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  return {
    port,
    url,
    request: async (method, path, { json, headers = {} } = {}) => {
      const body = json === undefined ? null : JSON.stringify(json)
      const type: Record<string, string> = json === undefined ? {} : { 'Content-Type': 'application/json' }
      const res = await fetch(`${url}${path}`, { method, headers: { ...type, ...headers }, body })
      const text = await res.text()
      return { status: res.status, body: parsed(text), headers: res.headers }
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
