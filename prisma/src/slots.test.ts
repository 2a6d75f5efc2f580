import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Busy } from './errors.ts'
import { Slots } from './slots.ts'

test('work beyond the slots waits in order, and no more of it than allowed', async () => {
  const slots = new Slots(2, { maxWaitMs: 1_000, maxWaiting: 2, what: 'reads' })
  const done: string[] = []
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const start = (name: string) =>
    slots
      .run(() => {
        begun.push(name)
        return new Promise<void>((resolve) => ends.set(name, resolve))
      })
      .then(() => done.push(name))
  const running = ['a', 'b', 'c', 'd'].map(start)
  await expect(start('e')).rejects.toThrow(new Busy('Too many reads are waiting.'))
  expect([begun, slots.waiting]).toEqual([['a', 'b'], 2])
  for (const name of ['b', 'a', 'c', 'd']) {
    ends.get(name)?.()
    await setImmediate()
    await setImmediate()
  }
  await Promise.all(running)
  expect([begun, done, slots.waiting]).toEqual([['a', 'b', 'c', 'd'], ['b', 'a', 'c', 'd'], 0])
})

test('work that has waited too long fails as busy, and takes no slot', async () => {
  const slots = new Slots(1, { maxWaitMs: 5 })
  await slots.acquire()
  await expect(slots.acquire()).rejects.toThrow(new Busy('The wait for other writes timed out.'))
  slots.release()
  expect(slots.acquire()).toBe(undefined)
})

test('callers take turns, however much work of each waits, and work that has waited too long leaves the others in place', async () => {
  const slots = new Slots(1, { maxWaitMs: 1_000 })
  await slots.acquire()
  const begun: string[] = []
  const start = async (caller: string, name: string, timeoutMs?: number) => {
    await slots.acquire(caller, timeoutMs)
    begun.push(name)
    slots.release()
  }
  const expired = expect(start('a', 'a0', 1)).rejects.toThrow(Busy)
  const waiting = [start('a', 'a1'), start('a', 'a2'), start('a', 'a3'), start('b', 'b1'), start('b', 'b2')]
  await expired
  expect(slots.waiting).toBe(5)
  slots.release()
  await Promise.all(waiting)
  expect(begun).toEqual(['a1', 'b1', 'a2', 'b2', 'a3'])
})

test('work that took long uses several turns of its caller', async () => {
  const slots = new Slots(1, { maxWaitMs: 1_000 })
  await slots.acquire()
  const begun: string[] = []
  const start = async (caller: string, name: string, usedMs: number) => {
    await slots.acquire(caller)
    begun.push(name)
    slots.release(caller, usedMs)
  }
  const heavy = ['a1', 'a2', 'a3'].map((name) => start('a', name, 35))
  const light = ['b1', 'b2', 'b3', 'b4', 'b5', 'b6'].map((name) => start('b', name, 9))
  slots.release()
  await Promise.all([...heavy, ...light])
  expect(begun).toEqual(['a1', 'b1', 'b2', 'b3', 'b4', 'a2', 'b5', 'b6', 'a3'])
})

test('one caller leaves slots to others, and its newest work fails when too much waits', async () => {
  const slots = new Slots(3, { maxWaitMs: 1_000, maxWaiting: 3, maxPerCaller: 2 })
  expect([slots.acquire('a'), slots.acquire('a')]).toEqual([undefined, undefined])
  const a3 = slots.acquire('a')
  const a4 = slots.acquire('a')
  const a5 = expect(slots.acquire('a')).rejects.toThrow(new Busy('Too many writes are waiting.'))
  expect(slots.acquire('b')).toBe(undefined)
  const b2 = slots.acquire('b')
  await a5
  expect(slots.waiting).toBe(3)
  slots.release('a')
  await a3
  slots.release('b')
  await b2
  slots.release('b')
  expect(slots.waiting).toBe(1)
  slots.release('a')
  await a4
  expect(slots.acquire('b')).toBe(undefined)
})

test('work that goes first waits before the other work of its caller, however many wait', async () => {
  const slots = new Slots(1, { maxWaitMs: 1_000, maxWaiting: 1 })
  await slots.acquire()
  const begun: string[] = []
  const start = async (name: string, isFirst: boolean) => {
    await slots.acquire('a', undefined, isFirst)
    begun.push(name)
    slots.release()
  }
  const waiting = [start('later', false), start('first', true)]
  expect([slots.free, slots.waiting]).toEqual([0, 2])
  slots.release()
  await Promise.all(waiting)
  expect([begun, slots.free]).toEqual([['first', 'later'], 1])
})
