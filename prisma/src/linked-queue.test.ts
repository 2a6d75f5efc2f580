import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { LinkedQueue, QueueNode } from './linked-queue.ts'

test('the order of the remaining members is kept, wherever others leave', () => {
  const line = new LinkedQueue<string>()
  const places = ['a', 'b', 'c', 'd', 'e'].map((name) => new QueueNode(name))
  for (const place of places) line.add(place)
  for (const at of [0, 4, 2]) line.remove(places[at] as QueueNode<string>)
  expect([line.size, line.first?.member, [...line]]).toEqual([2, 'b', ['b', 'd']])
  line.add(places[2] as QueueNode<string>)
  for (const at of [1, 3, 2]) line.remove(places[at] as QueueNode<string>)
  expect([line.size, line.first, [...line]]).toEqual([0, undefined, []])
})

test('a member may leave during iteration', () => {
  const line = new LinkedQueue<number>()
  const places = [0, 1, 2, 3].map((n) => new QueueNode(n))
  for (const place of places) line.add(place)
  const seen: number[] = []
  for (const n of line) {
    seen.push(n)
    line.remove(places[n] as QueueNode<number>)
  }
  expect([seen, line.size]).toEqual([[0, 1, 2, 3], 0])
})

test('later members do not keep removed ones in memory after garbage collection', () => {
  setFlagsFromString('--expose-gc')
  const collect: (options?: object) => void = runInNewContext('gc')
  const line = new LinkedQueue<{ payload: number[] }>()
  const places: QueueNode<{ payload: number[] }>[] = []
  const turnOver = (times: number) => {
    for (let i = 0; i < times; i++) {
      const place = new QueueNode({ payload: Array<number>(100).fill(i) })
      line.add(place)
      places.push(place)
      if (places.length > 8) line.remove(places.shift() as (typeof places)[0])
    }
  }
  turnOver(100)
  collect()
  const before = oldSpace()
  let maxGrowth = 0
  for (let round = 0; round < 20; round++) {
    turnOver(1000)
    maxGrowth = Math.max(maxGrowth, oldSpace() - before)
  }
  // 16 MB are allocated, and eight members remain. A Set retains half of it until the next collection.
  expect(maxGrowth).toBeLessThan(2_000_000)
})

function oldSpace(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size as number
}
