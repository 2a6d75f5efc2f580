import { Pool } from 'undici'
import { type ConcurrentLoad, type Counts, readsUnderLoad } from '../concurrent-load.ts'
import { expectAtLeast, expectNone, report, type Scenario } from '../scenario.ts'

// More than the capacity of the hash queue.
const CALLERS = 130
const USERS = 5

export const passwords: Scenario = {
  name: 'passwords',
  run: () => readsUnderLoad('passwords', {}, measurementsOf),
}

function measurementsOf({ 201: done = 0, 503: rejected = 0, stopped: _, ...others }: Counts) {
  return [
    report('successful bulk creates', String(done)),
    expectAtLeast('bulk creates rejected with 503', rejected, 1, ''),
    expectNone(
      'other responses',
      Object.values(others).reduce((sum, count) => sum + count, 0),
    ),
  ]
}

export const load: ConcurrentLoad = async (url, signal) => {
  const pool = new Pool(url, { connections: CALLERS, headersTimeout: 0 })
  const counts: Counts = {}
  const callers = Array.from({ length: CALLERS }, async (_, caller) => {
    for (let n = 0; !signal.aborted; n++) {
      const users = Array.from({ length: USERS }, (_, at) => ({
        name: 'Ada',
        email: `${caller}-${n}-${at}@example.com`,
        password: 'correct horse battery',
      }))
      const status = await pool
        .request({
          ...{ method: 'POST', path: '/api/users/bulk', signal, body: JSON.stringify(users) },
          headers: { 'content-type': 'application/json' },
        })
        .then(async ({ statusCode, body }) => {
          await body.dump()
          return statusCode
        })
        .catch(() => (signal.aborted ? 'stopped' : 'none'))
      counts[status] = (counts[status] ?? 0) + 1
      // The delay in the service's Retry-After.
      if (status === 503) await wait(2000, signal)
    }
  })
  await Promise.all(callers)
  await pool.destroy()
  return counts
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
