import { Pool } from 'undici'
import { type Counts, type Harm, readsBeside } from '../beside.ts'
import { atLeast, none, type Row, told } from '../row.ts'

// More than may wait to be hashed.
const CALLERS = 130
const USERS = 5

export const passwords: Row = {
  name: 'passwords',
  title: 'Bulk creates with passwords, more than the hash queue takes',
  how: `${CALLERS} callers at once create ${USERS} users with passwords each, over and over: a hundred wait for their turn to be hashed, what
comes then is refused. Meanwhile 200 reads a second at an even pace, of a book, of a filtered list and over tRPC.`,
  run: () => readsBeside('passwords', {}, figuresOf),
}

function figuresOf({ 201: done = 0, 503: refused = 0, stopped: _, ...others }: Counts) {
  return [
    told('bulk creates done', String(done)),
    atLeast('bulk creates refused with 503', refused, 1, ''),
    none(
      'other answers',
      Object.values(others).reduce((sum, count) => sum + count, 0),
    ),
  ]
}

export const harm: Harm = async (url, signal) => {
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
      // As its Retry-After says.
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
