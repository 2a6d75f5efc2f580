import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '@resource/bench/statistics'
import { Pool } from 'undici'

export interface Reading {
  /** Ascending, in ms. */
  latencies: number[]
  /** Responses other than 200, and connection errors. */
  failed: number
}

const ANSWER_WITHIN_MS = 15_000

/**
 * Reads at a constant rate, regardless of responses, so that the latencies include queueing time.
 *
 * @param paths read round-robin
 * @param isRunning called before each read
 * @param headers of the n-th read
 */
export async function readEvenly(
  url: string,
  paths: string[],
  perSecond: number,
  isRunning: () => boolean,
  headers: (n: number) => Record<string, string> = () => ({}),
): Promise<Reading> {
  const pool = new Pool(url, { connections: 64, headersTimeout: ANSWER_WITHIN_MS })
  const reading: Reading = { latencies: [], failed: 0 }
  const open = new Set<Promise<void>>()
  const begin = performance.now()
  const read = async (n: number) => {
    const sent = performance.now()
    try {
      const path = paths[n % paths.length] as string
      const { statusCode, body } = await pool.request({ method: 'GET', path, headers: headers(n) })
      await body.dump()
      if (statusCode === 200) reading.latencies.push(performance.now() - sent)
      else reading.failed++
    } catch {
      reading.failed++
    }
  }
  for (let n = 0; isRunning(); n++) {
    const wait = begin + (n * 1000) / perSecond - performance.now()
    if (wait > 0) await sleep(wait)
    const one = read(n)
    open.add(one)
    one.finally(() => open.delete(one))
  }
  await Promise.all(open)
  await pool.destroy()
  reading.latencies.sort((a, b) => a - b)
  return reading
}

/** In ms. */
export function p99({ latencies }: Reading): number {
  return percentile(latencies, 0.99)
}
