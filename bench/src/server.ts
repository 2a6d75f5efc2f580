import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort } from '@resource/postgres-test/free-port'
import { Client } from 'undici'
import type { Program } from './programs.ts'

/** Usage of a process: CPU time since its start in µs, user and kernel, and resident memory in bytes. */
interface Usage {
  cpu: number
  memory: number
}

export interface Server extends AsyncDisposable {
  url: string
  /** From process start to the first successful response, in ms. */
  startMs: number
  usage: () => Promise<Usage>
}

const START_LIMIT_MS = 60_000
const STOP_LIMIT_MS = 15_000

/**
 * Starts a program on a database.
 *
 * @param core CPU core to pin the program to
 * @param log file descriptor for the program's stdout; default: /dev/null
 * @throws Error with the program's stderr when it exits or does not respond in time
 */
export async function startServer(program: Program, databaseUrl: string, core?: number, log?: number): Promise<Server> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
  const { flags = [], env = {}, entry } = program
  const command = [process.execPath, ...flags, '--import', file('probe.ts'), file(`../${entry}`)]
  const pinned = core === undefined ? command : ['taskset', '-c', String(core), ...command]
  const started = performance.now()
  const child = spawn(pinned[0] as string, pinned.slice(1), {
    env: {
      PORT: String(port),
      DATABASE_URL: databaseUrl,
      NODE_ENV: 'production',
      TZ: 'UTC',
      PATH: process.env.PATH,
      // The same setting as in `npm start`.
      NODE_COMPILE_CACHE: file('../../node_modules/.cache/node'),
      ...env,
    },
    // Logs are still generated and written, to /dev/null.
    stdio: ['ignore', log ?? 'ignore', 'pipe', 'ipc'],
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-2000)
  })
  const ended = once(child, 'exit')

  const client = new Client(url)
  try {
    while (!(await answers(client))) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(stderr.trim() || 'the program exited')
      if (performance.now() - started > START_LIMIT_MS)
        throw new Error(`no response within ${START_LIMIT_MS} ms: ${stderr}`)
    }
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  } finally {
    await client.destroy()
  }
  const startMs = performance.now() - started

  return {
    url,
    startMs,
    usage: async () => {
      const answer = once(child, 'message')
      child.send('usage')
      const [{ cpu, memory }] = await answer
      return { cpu: cpu.user + cpu.system, memory }
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS)
      await ended
      clearTimeout(late)
    },
  }
}

async function answers(client: Client): Promise<boolean> {
  try {
    const { statusCode, body } = await client.request({ method: 'GET', path: '/api/users/1' })
    await body.dump()
    return statusCode === 200
  } catch {
    // Not listening yet: retry after 5 ms.
    await new Promise((resolve) => setTimeout(resolve, 5))
    return false
  }
}
