import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Client, createClient } from '@resource/client'

const HOST = fileURLToPath(new URL('../../server/test/test-server-host.ts', import.meta.url))
const MAIN = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
// As `npm start` sets it.
const COMPILE_CACHE = fileURLToPath(new URL('../../../node_modules/.cache/node', import.meta.url))

export interface Service extends AsyncDisposable {
  url: string
  client: Client
}

export interface ServiceProcess extends Service {
  /** Its database. */
  file: string
  /** Kills the process; {@link start} starts another on the same port and database. */
  kill: () => Promise<void>
  start: () => Promise<void>
}

let host: ChildProcess | undefined

/**
 * Starts the real service with a new database, in a process that the tests of a file share; `await using` removes both.
 *
 * @param kind `sign-in`: with an identity provider
 */
export async function startService(kind: 'sign-in' | '' = ''): Promise<Service> {
  host ??= fork(HOST, { env: { NODE_COMPILE_CACHE: COMPILE_CACHE } })
  // The tests of a file run one after the other, so the next message is the answer to this one.
  host.send(kind)
  const [url] = (await once(host, 'message')) as [string]
  return {
    url,
    client: createClient({ baseUrl: url }),
    [Symbol.asyncDispose]: async () => void host?.send(url),
  }
}

/** Starts the real service in a process of its own, which a test can kill. */
export async function startServiceProcess(): Promise<ServiceProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'resource-console-'))
  const file = join(folder, 'test.db')
  const run = async (port: string) => {
    const env = { NODE_COMPILE_CACHE: COMPILE_CACHE, PORT: port, DATABASE_URL: `file:${file}` }
    const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    return { child, exited: once(child, 'exit'), url: await servedAt(child.stdout) }
  }
  let running = await run('0')
  const { url } = running
  const kill = async () => {
    running.child.kill('SIGKILL')
    await running.exited
  }
  return {
    url,
    file,
    client: createClient({ baseUrl: url }),
    kill,
    start: async () => {
      running = await run(new URL(url).port)
    },
    [Symbol.asyncDispose]: async () => {
      await kill()
      await rm(folder, { recursive: true })
    },
  }
}

async function servedAt(log: NodeJS.ReadableStream): Promise<string> {
  const lines = createInterface({ input: log })
  for await (const line of lines) {
    const { url } = JSON.parse(line) as { url?: string }
    if (url === undefined) continue
    // Keeps reading, because the service would block on a full pipe.
    log.resume()
    return url
  }
  throw new Error('The service exited before it listened')
}
