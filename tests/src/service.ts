import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '@resource/postgres-test/free-port'

/** The program of the service. */
export const MAIN = fileURLToPath(new URL('../../apps/server/src/main.ts', import.meta.url))
const PROBE = fileURLToPath(import.meta.resolve('@resource/bench/probe'))
// The same setting as in `npm start`.
const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/node', import.meta.url))
// Longer than the service waits for a lock: 30 s on SQLite, 120 s on PostgreSQL. Then it exits with an error of its own.
const START_LIMIT_MS = 150_000
const STOP_LIMIT_MS = 20_000

export interface Usage {
  /** CPU time in µs, user and kernel. */
  cpu: number
  /** Resident set size in bytes. */
  memory: number
  /** JavaScript heap in bytes, after a full garbage collection. */
  heap: number
}

export interface Service extends AsyncDisposable {
  url: string
  port: number
  /** From process start to the first 200 of `/readyz`, in ms. */
  startMs: number
  usage: () => Promise<Usage>
  /** Sends a signal and waits for the exit. */
  end: (signal: NodeJS.Signals) => Promise<{ code: number | null; stderr: string }>
  /** Whether the process exited without a call of `end`. */
  hasDied: () => boolean
}

interface Options {
  /** Default: a free port of 127.0.0.1. */
  port?: number
  settings?: Record<string, string>
  /** Default: that of this version. */
  main?: string
  /** Command, with its arguments, that runs the service as its child process. */
  tracer?: string[]
}

/**
 * Starts the service as a child process, like `npm start`, and waits until it is ready.
 *
 * @throws Error with the service's stderr when it exits; when it is not ready in time, also with the last response of `/readyz`
 * and the states of its threads
 */
export async function startService(databaseUrl: string, options: Options = {}): Promise<Service> {
  const port = options.port ?? (await freePort())
  const url = `http://127.0.0.1:${port}`
  const started = performance.now()
  const program = [process.execPath, '--max-semi-space-size=16', '--expose-gc', '--import', PROBE, options.main ?? MAIN]
  const [file, ...args] = [...(options.tracer ?? []), ...program] as [string, ...string[]]
  const child = spawn(file, args, {
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      MALLOC_MMAP_THRESHOLD_: '1048576',
      PORT: String(port),
      DATABASE_URL: databaseUrl,
      ...options.settings,
    },
    // Logs are still generated and written, to /dev/null.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-4000)
  })
  const ended = once(child, 'exit')
  const kill = (signal: NodeJS.Signals) => {
    if (!hasEnded(child)) process.kill(options.tracer ? childOf(child.pid) : Number(child.pid), signal)
  }
  let isEnding = false
  try {
    await ready(url, child, started)
  } catch (error) {
    kill('SIGKILL')
    await ended
    throw new Error(`${(error as Error).message}: ${stderr.trim()}`)
  }
  const end = async (signal: NodeJS.Signals) => {
    isEnding = true
    kill(signal)
    const late = setTimeout(() => kill('SIGKILL'), STOP_LIMIT_MS)
    await ended
    clearTimeout(late)
    return { code: child.exitCode, stderr }
  }
  return {
    url,
    port,
    startMs: performance.now() - started,
    usage: async () => {
      const answer = once(child, 'message')
      child.send('usage')
      const [{ cpu, memory, heap }] = await answer
      return { cpu: cpu.user + cpu.system, memory, heap }
    },
    end,
    hasDied: () => !isEnding && hasEnded(child),
    [Symbol.asyncDispose]: async () => void (await end('SIGTERM')),
  }
}

async function ready(url: string, child: ChildProcess, started: number): Promise<void> {
  for (;;) {
    const { status, text } = await answerOf(`${url}/readyz`)
    if (status === 200) return
    if (hasEnded(child)) throw new Error('the service exited')
    if (performance.now() - started > START_LIMIT_MS) {
      const late = `the service is not ready after ${START_LIMIT_MS} ms`
      throw new Error(`${late}; /readyz: ${status} ${text}; ${threadsOf(Number(child.pid))}`)
    }
    await sleep(5)
  }
}

function childOf(pid: number | undefined): number {
  return childrenOf(Number(pid))[0] as number
}

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.split(' ').filter(Boolean).map(Number)
}

/** The threads of a process and of its children, each with its state and the kernel function in which it waits. */
function threadsOf(pid: number): string {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).map((thread) => {
      const of = (file: string) => readFileSync(`/proc/${pid}/task/${thread}/${file}`, 'utf8').trim()
      const [, state] = /\) (\w)/.exec(of('stat')) ?? []
      return `${of('comm')} ${state} ${of('wchan')}`
    })
    return [`threads of ${pid}: ${threads.join(', ')}`, ...childrenOf(pid).map(threadsOf)].join('; ')
  } catch (error) {
    return `threads of ${pid}: ${(error as Error).message}`
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Status of a GET on a new connection; 0 without a response. */
export async function statusOf(url: string): Promise<number> {
  return (await answerOf(url)).status
}

/** Status and body of a GET on a new connection; 0 and the error without a response. */
function answerOf(url: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    const fail = ({ message }: Error) => resolve({ status: 0, text: message })
    const sent = get(url, { agent: false, timeout: 5000 }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
      answer.on('error', fail)
    })
    sent.on('timeout', () => sent.destroy(new Error('no response within 5 s')))
    sent.on('error', fail)
  })
}
