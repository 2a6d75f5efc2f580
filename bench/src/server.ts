import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Client } from 'undici'
import { freePort } from './port.ts'
import type { Program } from './programs.ts'

/** What a process has used since its start: CPU time in µs, in user and kernel, and resident memory in bytes. */
interface Usage {
  cpu: number
  memory: number
}

export interface Server extends AsyncDisposable {
  url: string
  /** From the start of the process to its first right answer, in ms. */
  startMs: number
  usage: () => Promise<Usage>
}

const START_LIMIT_MS = 60_000
const ENDS_WITHIN_MS = 15_000

/**
 * Starts a program on a database.
 *
 * @param core the CPU core it may use, where the machine can pin it
 * @param log a file descriptor for its log, which is thrown away when absent
 * @throws Error with the program's own words when it ends or does not answer
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
      // As `npm start` has it.
      NODE_COMPILE_CACHE: file('../../node_modules/.cache/node'),
      ...env,
    },
    // Logs are made and written, to nowhere.
    stdio: ['ignore', log ?? 'ignore', 'pipe', 'ipc'],
  })
  let words = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-2000)
  })
  const ended = once(child, 'exit')

  const client = new Client(url)
  try {
    while (!(await answers(client))) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(words.trim() || 'it ended')
      if (performance.now() - started > START_LIMIT_MS)
        throw new Error(`no answer within ${START_LIMIT_MS} ms: ${words}`)
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
      const late = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS)
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
    // Nobody listens yet: asked again a moment later.
    await new Promise((resolve) => setTimeout(resolve, 5))
    return false
  }
}
