import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { TaskQueue } from '../src/connections/queues.ts'

test('tasks run in their order, so many in a round of the event loop, and those that come first at once', async () => {
  const turns = new TaskQueue(2)
  const ran: number[] = []
  for (let n = 0; n < 5; n++) turns.run(() => ran.push(n))
  expect([ran, turns.waiting]).toEqual([[0, 1], 3])
  await setImmediate()
  // One that comes meanwhile waits behind the others.
  turns.run(() => ran.push(5))
  expect([ran, turns.waiting]).toEqual([[0, 1, 2, 3], 2])
  await setImmediate()
  expect([ran, turns.waiting]).toEqual([[0, 1, 2, 3, 4, 5], 0])
  await setImmediate()
  turns.run(() => ran.push(6))
  expect(ran.at(-1)).toBe(6)
})
