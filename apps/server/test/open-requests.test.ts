import type { ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { OpenRequests } from '../src/http/open-requests.ts'

const answer = () => ({ socket: new Socket() }) as ServerResponse

test('holds those that have begun and not ended, whatever the order they end in', () => {
  const open = new OpenRequests()
  const answers = Array.from({ length: 5 }, answer)
  const ends = answers.map((res) => open.add(res))
  expect(open.size).toBe(5)
  for (const at of [0, 4, 2]) ends[at]?.()
  expect(open.size).toBe(2)
  expect(new Set(open)).toEqual(new Set([answers[1], answers[3]]))
  expect(answers.map(({ socket }) => open.isOn(socket))).toEqual([false, true, false, true, false])
  for (const at of [1, 3]) ends[at]?.()
  expect(open.size).toBe(0)
  expect([...open]).toEqual([])
})

test('what has ended is not kept by what began after it, once memory was collected', () => {
  setFlagsFromString('--expose-gc')
  const collect: (options?: object) => void = runInNewContext('gc')
  const open = new OpenRequests()
  const ends: (() => void)[] = []
  const turnOver = (times: number) => {
    for (let i = 0; i < times; i++) {
      ends.push(open.add({ payload: Array(100).fill(i) } as unknown as ServerResponse))
      if (ends.length > 8) ends.shift()?.()
    }
  }
  turnOver(100)
  collect()
  const before = oldSpace()
  let most = 0
  for (let round = 0; round < 20; round++) {
    turnOver(1000)
    most = Math.max(most, oldSpace() - before)
  }
  // 16 MB were made, of which eight answers are held. A Set leaves half of it until memory is collected again.
  expect(most).toBeLessThan(2_000_000)
})

function oldSpace(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size as number
}
