import { expect, test } from 'vitest'
import { longReads, readsOf } from './long-reads.ts'

/** Reads that end when the test lets them. */
function controlledReads() {
  const begun: string[] = []
  const ends: Record<string, () => void> = {}
  const read = (run: ReturnType<typeof longReads>, caller: string, name: string) =>
    readsOf(
      caller,
      () =>
        run(() => {
          begun.push(name)
          return new Promise<void>((resolve) => {
            ends[name] = resolve
          })
        }),
      () => {},
    )
  const end = async (name: string) => {
    ends[name]?.()
    await expect.poll(() => begun.length, { interval: 1 }).toBe(1)
    return begun.splice(0)
  }
  return { begun, read, end }
}

test('a caller with many long reads does not delay the only one of another caller', async () => {
  const { begun, read, end } = controlledReads()
  const run = longReads(2, 1)
  for (const name of ['a1', 'a2', 'a3', 'a4']) void read(run, 'a', name)
  void read(run, 'b', 'b1')
  expect(begun.splice(0)).toEqual(['a1', 'b1'])
  void read(run, 'b', 'b2')
  void read(run, 'c', 'c1')
  expect(await end('a1')).toEqual(['a2'])
  expect(await end('b1')).toEqual(['b2'])
  expect(await end('a2')).toEqual(['c1'])
})

test('a caller pays for the time that the long reads took, not for the wait', async () => {
  const run = longReads(1, 1)
  const paid: [caller: string, isLong: boolean][] = []
  const busy = () =>
    run(async () => {
      const start = performance.now()
      while (performance.now() - start < 5);
    })
  const pays = (caller: string, work: () => Promise<void>) =>
    readsOf(caller, work, (readMs) => paid.push([caller, readMs >= 5]))
  await Promise.all([pays('a', busy), pays('b', async () => {})])
  expect(paid).toEqual([['a', true]])
})
