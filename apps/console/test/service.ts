import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Client, createClient } from '@resource/client'

const MAIN = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))

export interface Service extends AsyncDisposable {
  url: string
  client: Client
}

/** Starts the real service in a separate process with a new database; `await using` removes both. */
export async function startService(): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'resource-console-'))
  const env = { PORT: '0', DATABASE_URL: `file:${join(folder, 'test.db')}` }
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const url = await servedAt(child.stdout)
  return {
    url,
    client: createClient({ baseUrl: url }),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await exited
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
