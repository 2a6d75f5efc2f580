import { Agent, fetch } from 'undici'

const LANES = 10
const READERS = 2
const USERS_AT_ONCE = 30

/** What each answer says is stored: an item of at least that price, for prices only rise, or a user. */
export interface Stored {
  items: Map<number, number>
  users: Set<number>
}

/**
 * Creates, changes, repeats and reads without a pause until so many requests were answered, or one with something other than
 * it asked for.
 *
 * @param run tells the names of one run from those of others
 * @returns how many were answered as they should be
 */
export async function writeOften(url: string, count: number, run: string): Promise<number> {
  let answered = 0
  let isOver = false
  // Each request on a connection of its own, so that every worker has its share.
  const agent = new Agent({ pipelining: 0 })
  const send = async (method: string, path: string, body?: object, key?: string) => {
    const headers = { 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) }
    const answer = await fetch(url + path, {
      method,
      headers,
      dispatcher: agent,
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    answered++
    isOver ||= answered >= count
    return answer.json()
  }
  const lane = async (lane: number) => {
    for (let n = 1; !isOver; n++) {
      const key = `${run}-${lane}-${n}`
      const created = () =>
        send('POST', '/items/', { name: 'Item', price: 0 }, key) as Promise<{ item: { id: number } }>
      const [{ item }] = await Promise.all([created(), created()])
      for (const price of [1, 2]) {
        await Promise.all([send('PATCH', `/items/${item.id}`, { price }), send('GET', `/items/${item.id}`)])
      }
      const users = Array.from({ length: USERS_AT_ONCE }, (_, at) => ({
        name: 'User',
        email: `${key}-${at}@example.com`,
      }))
      if (n % 5 === 0) await send('POST', '/api/users/bulk', users)
    }
  }
  const read = async () => {
    while (!isOver) await send('GET', '/items?sort=id_desc&limit=10')
  }
  const lanes = Array.from({ length: LANES }, (_, number) => (number < READERS ? read() : lane(number)))
  await Promise.all(lanes.map((lane) => lane.catch(() => (isOver = true))))
  await agent.close()
  return answered
}

/** Adds to `stored` what an answer says. */
export function learn({ items, users }: Stored, answer: string): void {
  if (!/^HTTP\/1\.1 20[01] /.test(answer)) return
  for (const [, id, price] of answer.matchAll(/"id":(\d+),"name":"Item","price":(\d+)/g)) {
    items.set(Number(id), Math.max(items.get(Number(id)) ?? 0, Number(price)))
  }
  for (const [, id] of answer.matchAll(/"id":(\d+),"name":"User"/g)) users.add(Number(id))
}
