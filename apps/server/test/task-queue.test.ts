import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { TaskQueue } from '../src/connections/task-queue.ts'

test('tasks run in order, a fixed number per event-loop round, and the first ones run immediately', async () => {
  const turns = new TaskQueue(2)
  const ran: number[] = []
  for (let n = 0; n < 5; n++) turns.run(() => ran.push(n))
  expect([ran, turns.waiting]).toEqual([[0, 1], 3])
  await setImmediate()
  // A task added now is queued after the others.
  turns.run(() => ran.push(5))
  expect([ran, turns.waiting]).toEqual([[0, 1, 2, 3], 2])
  await setImmediate()
  expect([ran, turns.waiting]).toEqual([[0, 1, 2, 3, 4, 5], 0])
  await setImmediate()
  turns.run(() => ran.push(6))
  expect(ran.at(-1)).toBe(6)
})
