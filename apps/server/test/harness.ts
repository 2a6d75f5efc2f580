import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Client, createClient } from '@resource/client'
import { createTestServer, type FaultOptions, type TestServer as PlainServer } from '@resource/server/testing'
import { afterAll, beforeAll, inject } from 'vitest'
import { postgresDatabase } from './database.ts'
import { checkAnswer } from './document-check.ts'

export interface Answer {
  status: number
  headers: Headers
  /** Parsed JSON; undefined for a response without a body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read any response
  body: any
}

interface RequestOptions {
  /** Sent as JSON with its Content-Type; `raw` is sent unchanged. */
  json?: unknown
  raw?: string | Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
}

export interface TestServer extends PlainServer {
  client: Client
  /** Sends an HTTP request and checks the response against the OpenAPI document. */
  request: (method: string, path: string, options?: RequestOptions) => Promise<Answer>
  /** Makes `client` and `request` use this API key from now on, or none. */
  logIn: (key: string | undefined) => void
}

// On a busy machine a request may wait for its turn for more than a second, which is not a defect.
export const PATIENT = { MAX_DELAY_MS: '60000' }

/**
 * Starts the real service on its own address and database, with the given faults; `await using` stops it.
 *
 * @param options `isAlone`: one process behind PgBouncer, too, for what each process counts by itself
 */
export async function startTestServer(
  environment: Record<string, string> = {},
  { isAlone = false, ...faults }: FaultOptions & { isAlone?: boolean } = {},
): Promise<TestServer> {
  const database = await postgresDatabase()
  const options = {
    ...faults,
    environment: { ...PATIENT, ...(database && { DATABASE_URL: database.url }), ...environment },
  }
  const server = await createTestServer(options)
  // Behind PgBouncer, two services share the connections of a database: one must not get the statements of the other.
  const second = inject('unpooledPort') !== undefined && !isAlone ? await createTestServer(options) : undefined
  const urls = [server.url, second?.url ?? server.url]
  let sent = 0
  const stop = async () => {
    await second?.stop()
    await server.stop()
    database?.release()
  }
  let key: string | undefined
  return {
    ...server,
    ...(database && { databaseUrl: database.url }),
    ...(environment.DATABASE_URL !== undefined && { databaseUrl: environment.DATABASE_URL }),
    stop,
    [Symbol.asyncDispose]: stop,
    client: createClient({ baseUrl: server.url, apiKey: () => key }),
    request: (method, path, { headers, ...options } = {}) =>
      request(urls[sent++ % 2] as string, method, path, {
        ...options,
        headers: { ...(key && bearer(key)), ...headers },
      }),
    logIn: (newKey) => {
      key = newKey
    },
  }
}

/** One server for all tests of a describe block; they must leave its data unchanged. */
export function shareTestServer(
  prepare?: (server: TestServer) => Promise<unknown>,
  environment: Record<string, string> = {},
): () => TestServer {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer(environment)
    await prepare?.(server)
  })
  afterAll(() => server?.[Symbol.asyncDispose]())
  return () => server
}

/**
 * Starts servers with the same data. On SQLite `prepare` runs once, and each server gets a copy of the file. On PostgreSQL it
 * runs for each server.
 *
 * @returns a function that starts a server and adds what `prepare` returned; `await using` stops it
 */
export function preparedServers<T>(prepare: (server: TestServer) => Promise<T>) {
  let first: ReturnType<typeof prepareFile<T>> | undefined
  return async (): Promise<TestServer & { prepared: T }> => {
    await using started = new AsyncDisposableStack()
    const start = async (environment?: Record<string, string>) => started.use(await startTestServer(environment))
    const finish = (server: TestServer, prepared: T) => {
      const running = started.move()
      const stop = () => running.disposeAsync()
      return { ...server, prepared, stop, [Symbol.asyncDispose]: stop }
    }
    if (inject('postgres') !== undefined) {
      const server = await start()
      return finish(server, await prepare(server))
    }
    first ??= prepareFile(prepare)
    const { content, key, prepared } = await first
    const { path } = started.use(await mkdtempDisposable(join(tmpdir(), 'prepared-')))
    const file = join(path, 'test.db')
    await writeFile(file, content)
    const server = await start({ DATABASE_URL: `file:${file}` })
    server.logIn(key)
    return finish(server, prepared)
  }
}

/** The file of a server after `prepare`, what that returned, and the key that it made the server use. */
async function prepareFile<T>(prepare: (server: TestServer) => Promise<T>) {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'prepared-'))
  const file = join(folder.path, 'test.db')
  let key: string | undefined
  const run = async () => {
    await using server = await startTestServer({ DATABASE_URL: `file:${file}` })
    const logIn = (newKey: string | undefined) => {
      key = newKey
      server.logIn(key)
    }
    return await prepare({ ...server, logIn })
  }
  const prepared = await run()
  return { prepared, key, content: await readFile(file) }
}

/** The response to a request. On a busy machine it may be refused for overload first; then it is sent again. */
export async function untilServed(send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await send()
    if (answer.status !== 503) return answer
    await setTimeout(100)
  }
}

/** The header that carries a key. */
export function bearer(key: string) {
  return { Authorization: `Bearer ${key}` }
}

async function request(url: string, method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
  const { json, raw, headers = {} } = options
  const sent = json === undefined ? raw : JSON.stringify(json)
  const response = await fetch(url + path, {
    method,
    headers: { ...(json !== undefined && { 'Content-Type': 'application/json' }), ...headers },
    ...(sent !== undefined && { body: sent }),
  })
  const text = await response.text()
  const answer = {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
  checkAnswer(method, path, answer)
  return answer
}
