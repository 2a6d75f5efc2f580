import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'

const WATCHDOG = 'watchdog'
const PINGS_PER_TIMEOUT = 5

// Avoids a tight loop if workers die at startup.
const RESTART_AFTER_MS = 1_000

/**
 * Runs the service in `count` processes that share its address, and replaces each one that dies or hangs. SIGTERM, SIGINT and
 * SIGHUP stop all processes gracefully.
 *
 * @param timeoutMs a process that does not respond for this time is killed
 * @returns stops all processes and waits until they have exited
 * @throws Error if the first process cannot start; it writes the reason to stderr
 */
export async function runWorkers(count: number, timeoutMs: number, log: Logger): Promise<() => Promise<void>> {
  let stopping = false
  const end = (signal: NodeJS.Signals) => {
    stopping = true
    for (const worker of workers()) worker.process.kill(signal)
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end)
  cluster.on('fork', closeUnacceptedConnection)
  watch(timeoutMs, log, () => stopping)
  // Starts one process first: it migrates the database, and an error at startup is reported once.
  await listening(cluster.fork())
  cluster.on('exit', async (worker, code, signal) => {
    if (stopping) return
    log.error({ worker: worker.process.pid, code, signal }, 'worker died; starting another')
    await sleep(RESTART_AFTER_MS)
    if (!stopping) cluster.fork()
  })
  for (let started = 1; started < count && !stopping; started++) cluster.fork()
  return async () => {
    end('SIGTERM')
    await Promise.all(workers().map((worker) => once(worker, 'exit')))
  }
}

/**
 * Closes the connection that a worker was handed and had not accepted when it died. Node's cluster module hands a worker one
 * connection at a time, closes its own copy once the worker has accepted it, and otherwise keeps it open forever: the client
 * would wait in vain. Another worker must not get it, because the request may already have been served.
 */
function closeUnacceptedConnection(worker: Worker): void {
  const { process } = worker
  const send = process.send.bind(process) as (message: unknown, handle?: unknown, ...rest: unknown[]) => boolean
  let handed: { close: () => void } | undefined
  process.send = (message: unknown, handle?: unknown, ...rest: unknown[]) => {
    // A function is the callback of a message without a handle.
    if (typeof handle === 'object' && handle !== null) handed = handle as { close: () => void }
    return send(message, handle, ...rest)
  }
  // Has no effect on a handle that is closed.
  worker.on('exit', () => handed?.close())
}

/**
 * Kills workers that do not answer pings, once they serve. Unanswered pings are counted instead of the time: after a pause of
 * the whole machine no worker has answered for long.
 */
function watch(timeoutMs: number, log: Logger, isStopping: () => boolean): void {
  const unanswered = new Map<Worker, number>()
  cluster.on('listening', (worker) => unanswered.set(worker, 0))
  // Of a worker that was killed the channel may stay open for longer.
  for (const end of ['disconnect', 'exit']) cluster.on(end, (worker: Worker) => unanswered.delete(worker))
  cluster.on('message', (worker, message) => {
    if (message === WATCHDOG && unanswered.has(worker)) unanswered.set(worker, 0)
  })
  const ping = () => {
    if (isStopping()) return
    for (const [worker, pings] of unanswered) {
      if (pings < PINGS_PER_TIMEOUT) {
        unanswered.set(worker, pings + 1)
        worker.send(WATCHDOG, () => {})
        continue
      }
      unanswered.delete(worker)
      log.error({ worker: worker.process.pid, timeoutMs }, 'worker does not respond; killing it')
      worker.process.kill('SIGKILL')
    }
  }
  setInterval(ping, timeoutMs / PINGS_PER_TIMEOUT).unref()
}

/** In a worker: answers the primary's pings. */
export function answerPings(): void {
  process.on('message', (message) => {
    if (message === WATCHDOG) process.send?.(WATCHDOG, undefined, undefined, () => {})
  })
}

async function listening(worker: Worker): Promise<void> {
  const started = new AbortController()
  const { signal } = started
  const outcome = await Promise.race([once(worker, 'listening', { signal }), once(worker, 'exit', { signal })])
  started.abort()
  if (worker.isDead() && outcome[0] !== 0) throw new Error('No worker could be started')
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}

/** Whether this process is the only one or the first of several. Only this one logs messages that concern all. */
export function isFirstProcess(): boolean {
  return (cluster.worker?.id ?? 1) === 1
}
