import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@resource/client'
import { pino } from 'pino'
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

export interface RequestOptions {
  /** Sent as JSON with its Content-Type; `raw` is sent as it is. */
  json?: unknown
  raw?: string | Uint8Array<ArrayBuffer>
  headers?: Record<string, string>
}

export interface TestServer extends AsyncDisposable {
  url: string
  client: Client
  /** A request over HTTP whose answer is checked against the OpenAPI document. */
  request: (method: string, path: string, options?: RequestOptions) => Promise<Answer>
}

/** The real service on an address and a SQLite file of its own; `await using` stops it and removes the file. */
export async function startTestServer(environment: Record<string, string> = {}): Promise<TestServer> {
  const directory = await mkdtemp(join(tmpdir(), 'resource-'))
  const config = readConfig({ PORT: '0', DATABASE_URL: `file:${join(directory, 'test.db')}`, ...environment })
  const { url, stop } = await startServer(config, pino({ level: 'silent' }))
  return {
    url,
    client: createClient({ baseUrl: url }),
    request: (method, path, options) => request(url, method, path, options),
    [Symbol.asyncDispose]: async () => {
      await stop()
      await rm(directory, { recursive: true })
    },
  }
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
