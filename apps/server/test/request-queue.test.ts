import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { RequestQueue } from '../src/limits/request-queue.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

interface Options {
  isGone?: () => boolean
  canWait?: boolean
  programsMs?: number
}

/** A queue with a record of what it served. `late` requests are refused, which takes no time. */
function createQueue() {
  let othersMs = 0
  const queue = new RequestQueue(1_000, () => performance.now() - othersMs)
  const served: string[] = []
  const late: string[] = []
  /** Adds a request that takes `ms`, in a promise as most requests do; other programs run for `programsMs` meanwhile. */
  const add = (
    caller: string,
    name: string,
    ms: number,
    { isGone = () => false, canWait = false, programsMs = 0 }: Options = {},
  ) => {
    const arrivedMs = performance.now()
    const serve = async (isLate: boolean) => {
      if (isLate) return void late.push(name)
      served.push(name)
      await undefined
      vi.advanceTimersByTime(ms + programsMs)
      othersMs += programsMs
    }
    if (queue.hasTime(arrivedMs, canWait)) void serve(false)
    else queue.add({ caller, arrivedMs, isGone, serve })
  }
  return { queue, add, served, late }
}

async function turns(count: number) {
  for (let turn = 0; turn < count; turn++) await setImmediate()
}

test('requests are served as they arrive, until they have taken 10 ms of a turn; later turns take 2 ms each', async () => {
  const { add, served } = createQueue()
  for (let n = 0; n < 14; n++) {
    add('one', '', 1)
    // A request arrives in a callback of its own.
    await undefined
  }
  const counts = []
  for (let turn = 0; turn < 3; turn++) {
    counts.push(served.length)
    await setImmediate()
  }
  expect(counts).toEqual([10, 12, 14])
})

test('of many requests that can wait, 2 ms are served as they arrive, and others at once', async () => {
  const { add, served } = createQueue()
  for (let n = 0; n < 50; n++) {
    add('monitoring', 'can wait', 1, { canWait: true })
    await undefined
  }
  expect(served.length).toBe(2)
  for (let n = 0; n < 10; n++) {
    add('one', 'other', 0.5)
    await undefined
    add('monitoring', 'can wait', 1, { canWait: true })
    // Reading those that wait takes time, too.
    vi.advanceTimersByTime(1)
  }
  expect(served.slice(2)).toEqual(Array.from({ length: 10 }, () => 'other'))
  await turns(60)
  expect(served.length).toBe(70)
})

test('a turn serves at most one request that takes longer', async () => {
  const { add, served } = createQueue()
  for (const name of ['a', 'b', 'c', 'd']) {
    add('one', name, 40)
    await undefined
  }
  const counts = []
  for (let turn = 0; turn < 4; turn++) {
    counts.push(served.length)
    await setImmediate()
  }
  expect(counts).toEqual([1, 2, 3, 4])
})

test('callers get the same time, whatever they send', async () => {
  const { add, served } = createQueue()
  for (const name of ['a1', 'a2', 'a3']) {
    add('a', name, 40)
    await undefined
  }
  for (const name of ['b1', 'b2', 'b3']) add('b', name, 1)
  await turns(4)
  expect(served).toEqual(['a1', 'a2', 'b1', 'b2', 'b3', 'a3'])
})

test('the time of a request is not that of other programs', async () => {
  const { add, served } = createQueue()
  add('a', 'a1', 10)
  await undefined
  for (const name of ['a2', 'a3', 'a4']) add('a', name, 3)
  add('b', 'b1', 1, { programsMs: 100 })
  add('b', 'b2', 1)
  await turns(6)
  expect(served).toEqual(['a1', 'a2', 'b1', 'b2', 'a3', 'a4'])
})

test('requests that arrive after a long turn wait until the connections that arrived meanwhile are accepted', async () => {
  const { queue, add, served } = createQueue()
  add('a', 'a1', 40)
  await turns(1)
  queue.accepted()
  add('a', 'a2', 40)
  await turns(1)
  vi.advanceTimersByTime(1.9)
  queue.accepted()
  vi.advanceTimersByTime(1.9)
  await turns(1)
  expect(served).toEqual(['a1'])
  vi.advanceTimersByTime(0.1)
  await turns(1)
  expect(served).toEqual(['a1', 'a2'])
})

test('new connections without an end delay requests by 10 ms', async () => {
  const { queue, add, served } = createQueue()
  add('a', 'a1', 40)
  await turns(1)
  add('a', 'a2', 1)
  for (let turn = 0; turn < 9; turn++) {
    vi.advanceTimersByTime(1)
    queue.accepted()
    await turns(1)
  }
  expect(served).toEqual(['a1'])
  vi.advanceTimersByTime(1)
  queue.accepted()
  await turns(1)
  expect(served).toEqual(['a1', 'a2'])
})

test('new connections without an end delay short requests by as long as the short ones before them took', async () => {
  const { queue, add, served } = createQueue()
  for (let n = 0; n < 18; n++) {
    add('a', '', 1)
    await undefined
  }
  const counts = []
  for (let turn = 0; turn < 7; turn++) {
    vi.advanceTimersByTime(1)
    queue.accepted()
    await turns(1)
    counts.push(served.length)
  }
  // Of each 2 ms for requests and 2 ms for connections.
  expect(counts).toEqual([12, 12, 14, 14, 16, 16, 18])
})

test('a request whose connection has closed is dropped', async () => {
  const { add, served, late } = createQueue()
  add('a', 'a1', 40)
  await undefined
  add('a', 'a2', 40, { isGone: () => true })
  await turns(2)
  expect([served, late]).toEqual([['a1'], []])
})

test('a hundred requests at once are served, however long that takes', async () => {
  const { add, served, late } = createQueue()
  for (let n = 0; n < 100; n++) {
    add('a', String(n), 9)
    await undefined
  }
  await turns(100)
  expect([served.length, late]).toEqual([100, []])
})

test('a burst waits for at most 250 ms, and a standing queue of more than 32 for 30 ms', async () => {
  const { add, served, late } = createQueue()
  const arrive = async (count: number) => {
    for (let n = 0; n < count; n++) {
      add('a', '', 1)
      await undefined
    }
  }
  await arrive(900)
  await turns(125)
  expect([served.length, late.length]).toEqual([260, 0])
  // These keep the queue from becoming empty.
  await arrive(100)
  await turns(1)
  expect([served.length, late.length]).toEqual([262, 639])
  await turns(14)
  expect([served.length, late.length]).toEqual([290, 639])
  // After the first, 38 have waited more than 30 ms. The last 32 may wait longer.
  await turns(1)
  expect([served.length, late.length]).toEqual([292, 677])
  await turns(16)
  expect([served.length, late.length]).toEqual([323, 677])
  // A queue that was empty for less than a second still stands: again, the last 32 may wait longer.
  vi.advanceTimersByTime(900)
  await arrive(100)
  await turns(50)
  expect([served.length, late.length]).toEqual([386, 714])
  // Now the next burst may be as long as the first.
  vi.advanceTimersByTime(1_000)
  await arrive(250)
  await turns(125)
  expect([served.length, late.length]).toEqual([636, 714])
})

test('the wait of other callers is not that of a standing queue', async () => {
  const { add, served, late } = createQueue()
  for (let n = 0; n < 200; n++) {
    add('a', 'a', 9)
    await undefined
  }
  await turns(120)
  expect(late.length).toBeGreaterThan(80)
  served.length = 0
  late.length = 0
  for (let n = 0; n < 40; n++) add('a', 'a', 40)
  add('b', 'b', 40)
  await turns(3)
  expect(served).toContain('b')
})

test('a request does not inherit the async context of an earlier one', async () => {
  const context = new AsyncLocalStorage<string>()
  const queue = new RequestQueue(1_000, () => performance.now())
  context.run('first', () => queue.hasTime(performance.now()))
  vi.advanceTimersByTime(40)
  const arrivedMs = performance.now()
  expect(queue.hasTime(arrivedMs)).toBe(false)
  const seen = new Promise((resolve) => {
    queue.add({ caller: 'a', arrivedMs, isGone: () => false, serve: () => resolve(context.getStore()) })
  })
  expect(await seen).toBe(undefined)
})
