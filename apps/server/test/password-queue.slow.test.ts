import { FairQueue } from '@resource/database'
import { expect, test } from 'vitest'
import { enqueueHash, hashingQueue } from '../src/passwords/hash-queue.ts'
import { createCallers } from './callers.ts'
import { startTestServer } from './harness.ts'

test('callers share the hashing threads fairly, however many passwords one of them has queued', async () => {
  const order: string[] = []
  const hash = (caller: string) => enqueueHash('horse', { caller }).then(() => order.push(caller))
  await Promise.all([...Array.from({ length: 30 }, () => hash('key 1')), hash('key 2'), hash('key 3')])
  expect(order.slice(0, 8)).toContain('key 2')
  expect(order.slice(0, 9)).toContain('key 3')
})

test('over a hundred queued passwords, only the caller with the most is refused', async () => {
  const outcomes = { 'key 1': [] as string[], 'key 2': [] as string[] }
  const hash = (caller: keyof typeof outcomes) =>
    enqueueHash('horse', { caller }).then(
      () => outcomes[caller].push('hashed'),
      ({ status, message, headers }) => outcomes[caller].push(`${status} ${headers['Retry-After']} ${message}`),
    )
  const many = Array.from({ length: 120 }, () => hash('key 1'))
  const { running } = hashingQueue()
  await Promise.all([...many, ...Array.from({ length: 10 }, () => hash('key 2'))])
  expect(outcomes['key 2']).toEqual(Array(10).fill('hashed'))
  const refused = outcomes['key 1'].filter((outcome) => outcome !== 'hashed')
  expect(refused).toEqual(Array(30 - running).fill('503 2 Too many passwords are waiting to be hashed; try again'))
})

test('a writer with 130 concurrent creates neither delays other callers to the end nor causes them a 503', async () => {
  await using server = await startTestServer()
  const { writer = '', admin = '' } = await createCallers(server)
  const create = async (Authorization: string, n: number) => {
    const json = { name: 'Ada', email: `ada${n}@example.com`, password: 'correct horse battery staple' }
    return (await server.request('POST', '/api/users', { json, headers: { Authorization } })).status
  }
  const statuses: number[] = []
  const { refused } = hashingQueue()
  const many = Array.from({ length: 130 }, (_, n) => create(writer, n).then((status) => statuses.push(status)))
  await expect.poll(() => hashingQueue().refused).toBeGreaterThan(refused)
  expect([await create(admin, 200), await create(admin, 201)]).toEqual([201, 201])
  expect(hashingQueue().waiting).toBeGreaterThan(0)
  await Promise.all(many)
  expect(new Set(statuses)).toEqual(new Set([201, 503]))
})

test('with as many callers as slots the last one is refused', () => {
  const queue = new FairQueue<number>()
  for (let n = 0; n < 3; n++) queue.add(`key ${n}`, n)
  expect([queue.drop(), queue.take(), queue.take(), queue.take(), queue.size]).toEqual([2, 0, 1, undefined, 0])
})
