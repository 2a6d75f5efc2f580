import { expect, test, vi } from 'vitest'
import { workOf } from './callers.ts'
import { Busy } from './errors.ts'
import { LongReads } from './long-reads.ts'

/** Reads that end when the test lets them. */
function controlledReads() {
  const begun: string[] = []
  const refused: string[] = []
  const ends: Record<string, () => void> = {}
  const read = (reads: LongReads, caller: string, name: string) =>
    workOf({ name: caller, onLong: () => {}, onRefused: () => refused.push(name) }, () =>
      reads.run(() => {
        begun.push(name)
        return new Promise<void>((resolve) => {
          ends[name] = resolve
        })
      }),
    )
  const end = async (name: string) => {
    ends[name]?.()
    await expect.poll(() => begun.length, { interval: 1 }).toBe(1)
    return begun.splice(0)
  }
  return { begun, refused, read, end }
}

test('a caller with many long reads does not delay the only one of another caller', async () => {
  const { begun, read, end } = controlledReads()
  const reads = new LongReads(2, 1)
  for (const name of ['a1', 'a2', 'a3', 'a4']) void read(reads, 'a', name)
  void read(reads, 'b', 'b1')
  expect(begun.splice(0)).toEqual(['a1', 'b1'])
  void read(reads, 'b', 'b2')
  void read(reads, 'c', 'c1')
  expect(await end('a1')).toEqual(['a2'])
  expect(await end('b1')).toEqual(['b2'])
  expect(await end('a2')).toEqual(['c1'])
})

test('a caller pays for the time that the long reads took, not for the wait', async () => {
  const reads = new LongReads(1, 1)
  const paid: [caller: string, isLong: boolean][] = []
  const busy = () =>
    reads.run(async () => {
      const start = performance.now()
      while (performance.now() - start < 5);
    })
  const pays = (caller: string, work: () => Promise<void>) =>
    workOf({ name: caller, onLong: (readMs) => paid.push([caller, readMs >= 5]), onRefused: () => {} }, work)
  await Promise.all([pays('a', busy), pays('b', async () => {})])
  expect(paid).toEqual([['a', true]])
})

test('after a hundred long reads of a caller have waited for a quarter of a second, its next fails at once; no other caller is affected', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const { begun, refused, read } = controlledReads()
  const reads = new LongReads(2, 1)
  for (let count = 0; count < 100; count++) void read(reads, 'a', `a${count}`)
  vi.advanceTimersByTime(251)
  void read(reads, 'a', 'a100')
  await expect(read(reads, 'a', 'a101')).rejects.toThrow(new Busy('Too many long reads are waiting.'))
  void read(reads, 'b', 'b1')
  expect(refused).toEqual(['a101'])
  expect([reads.isOverloaded('a'), reads.isOverloaded('b')]).toEqual([true, false])
  expect(begun).toEqual(['a0', 'b1'])
  vi.useRealTimers()
})
