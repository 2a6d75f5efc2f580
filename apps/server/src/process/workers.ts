import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'

// A worker that dies as soon as it lives is not started again at once.
const RESTART_AFTER_MS = 1_000

/**
 * Runs the service in `count` processes that share its address, and starts another for each that dies. SIGTERM, SIGINT
 * and SIGHUP stop them all, each finishing what it has begun.
 *
 * @returns stops them all, and waits until they have ended
 * @throws Error when the first of them cannot start; it has said why on stderr
 */
export async function runWorkers(count: number, log: Logger): Promise<() => Promise<void>> {
  let stopping = false
  const end = (signal: NodeJS.Signals) => {
    stopping = true
    for (const worker of workers()) worker.process.kill(signal)
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, end)
  // One first: it brings the database up to date, and what keeps it from starting is said once.
  await listening(cluster.fork())
  cluster.on('exit', async (worker, code, signal) => {
    if (stopping) return
    log.error({ worker: worker.process.pid, code, signal }, 'a worker died; another takes its place')
    await sleep(RESTART_AFTER_MS)
    if (!stopping) cluster.fork()
  })
  for (let started = 1; started < count && !stopping; started++) cluster.fork()
  return async () => {
    end('SIGTERM')
    await Promise.all(workers().map((worker) => once(worker, 'exit')))
  }
}

async function listening(worker: Worker): Promise<void> {
  const started = new AbortController()
  const { signal } = started
  const outcome = await Promise.race([once(worker, 'listening', { signal }), once(worker, 'exit', { signal })])
  started.abort()
  if (worker.isDead() && outcome[0] !== 0) throw new Error('No worker could be started.')
}

function workers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
}

/** Whether this process is the only one or the first of several: what concerns them all is logged there. */
export function isFirstProcess(): boolean {
  return (cluster.worker?.id ?? 1) === 1
}
