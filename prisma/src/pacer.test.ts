import { setImmediate } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { createPacer } from './pacer.ts'

test('a turn of the event loop continues one of several works, in the order in which they paused', async () => {
  let nowMs = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  const order: string[] = []
  const work = async (name: string) => {
    const pace = createPacer()
    for (let step = 0; step < 4; step++) {
      await pace()
      order.push(name)
      nowMs += 3
    }
  }
  let isRunning = true
  const turns = async () => {
    while (isRunning) {
      await setImmediate()
      if (isRunning) order.push('turn')
    }
  }
  const running = turns()
  await Promise.all([work('a'), work('b')])
  isRunning = false
  await running
  clock.mockRestore()
  expect(order.slice(order.indexOf('turn'))).toEqual(['turn', 'a', 'turn', 'b', 'turn', 'a', 'turn', 'b'])
})
