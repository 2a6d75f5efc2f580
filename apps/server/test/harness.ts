import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@resource/client'
import { pino } from 'pino'
import { afterAll, beforeAll } from 'vitest'
import { readConfig } from '../src/config.ts'
import { startServer } from '../src/http/server.ts'
import { checkAnswer } from './document-check.ts'

export interface Answer {
  status: number
  headers: Headers
  /** Parsed JSON; undefined when the answer has no body. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
  body: any
}

interface RequestOptions {
  /** Sent as JSON with its Content-Type; `raw` is sent as it is. */
  json?: unknown
  raw?: string | Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
}

export interface TestServer extends AsyncDisposable {
  url: string
  client: Client
  /** Of the service's SQLite file, for what no door shows: `createDatabase` opens it beside the service. */
  databaseUrl: string
  /** What the service has logged, a line of JSON each. */
  log: string[]
  /** A request over HTTP whose answer is checked against the OpenAPI document. */
  request: (method: string, path: string, options?: RequestOptions) => Promise<Answer>
}

/** The real service on an address and a SQLite file of its own; `await using` stops it and removes the file. */
export async function startTestServer(environment: Record<string, string> = {}): Promise<TestServer> {
  const directory = await mkdtemp(join(tmpdir(), 'resource-'))
  const databaseUrl = `file:${join(directory, 'test.db')}`
  const config = readConfig({ PORT: '0', DATABASE_URL: databaseUrl, ...environment })
  const log: string[] = []
  const { url, stop } = await startServer(config, pino({ level: 'trace' }, { write: (line) => void log.push(line) }))
  return {
    url,
    client: createClient({ baseUrl: url }),
    databaseUrl,
    log,
    request: (method, path, options) => request(url, method, path, options),
    [Symbol.asyncDispose]: async () => {
      await stop()
      await rm(directory, { recursive: true })
    },
  }
}

/** One server for the tests of a describe that leave it as it was. */
export function shareTestServer(prepare?: (server: TestServer) => Promise<unknown>): () => TestServer {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestServer()
    await prepare?.(server)
  })
  afterAll(() => server?.[Symbol.asyncDispose]())
  return () => server
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
