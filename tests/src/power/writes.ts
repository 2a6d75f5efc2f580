import { Agent, fetch } from 'undici'

const CALLERS = 10
const READERS = 2
const USERS_PER_BULK = 30

/** Records that responses have shown. Prices only increase, so an item's stored price is at least the one shown. */
export interface Stored {
  /** Price by id. */
  items: Map<number, number>
  users: Set<number>
}

/**
 * Creates, updates, retries and reads continuously until `count` requests have succeeded, or one has failed.
 *
 * @param run makes the keys and addresses of one run unique
 * @returns the number of successful requests
 */
export async function writeOften(url: string, count: number, run: string): Promise<number> {
  let answered = 0
  let isOver = false
  // A new connection for each request, so that all workers get requests.
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
  const caller = async (caller: number) => {
    for (let n = 1; !isOver; n++) {
      const key = `${run}-${caller}-${n}`
      const created = () =>
        send('POST', '/items/', { name: 'Item', price: 0 }, key) as Promise<{ item: { id: number } }>
      const [{ item }] = await Promise.all([created(), created()])
      for (const price of [1, 2]) {
        await Promise.all([send('PATCH', `/items/${item.id}`, { price }), send('GET', `/items/${item.id}`)])
      }
      const users = Array.from({ length: USERS_PER_BULK }, (_, at) => ({
        name: 'User',
        email: `${key}-${at}@example.com`,
      }))
      if (n % 5 === 0) await send('POST', '/api/users/bulk', users)
    }
  }
  const read = async () => {
    while (!isOver) await send('GET', '/items?sort=id_desc&limit=10')
  }
  const callers = Array.from({ length: CALLERS }, (_, number) => (number < READERS ? read() : caller(number)))
  await Promise.all(callers.map((caller) => caller.catch(() => (isOver = true))))
  await agent.close()
  return answered
}

/**
 * Adds the records shown in a response to `stored`.
 *
 * @returns whether it shows any
 */
export function addAcknowledged({ items, users }: Stored, answer: string): boolean {
  if (!/^HTTP\/1\.1 20[01] /.test(answer)) return false
  const shownItems = [...answer.matchAll(/"id":(\d+),"name":"Item","price":(\d+)/g)]
  const shownUsers = [...answer.matchAll(/"id":(\d+),"name":"User"/g)]
  for (const [, id, price] of shownItems) {
    items.set(Number(id), Math.max(items.get(Number(id)) ?? 0, Number(price)))
  }
  for (const [, id] of shownUsers) users.add(Number(id))
  return shownItems.length + shownUsers.length > 0
}
