import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { verify } from '@node-rs/argon2'
import { expect, test } from 'vitest'
import { enqueueHash, hashingQueue } from '../src/passwords/hash-queue.ts'

test('concurrent hashes are queued, and each belongs to its own text', async () => {
  const texts = Array.from({ length: 10 }, (_, n) => `correct horse ${n}`)
  const asked = Promise.all(texts.map((text) => enqueueHash(text)))
  const { running, waiting } = hashingQueue()
  expect([running + waiting, running >= 1 && running <= 3]).toEqual([10, true])
  const hashes = await asked
  expect(new Set(hashes).size).toBe(10)
  expect(await Promise.all(hashes.map((hash, n) => verify(hash, texts[n] as string)))).toEqual(texts.map(() => true))
  expect(hashingQueue()).toEqual({ running: 0, waiting: 0, refused: 0 })
})

test('with a salt the hash is deterministic, and depends on the salt and the text', async () => {
  const [salt, other] = [Buffer.alloc(16, 1), Buffer.alloc(16, 2)]
  const [first, again, salted, worded] = await Promise.all([
    enqueueHash('horse', { salt }),
    enqueueHash('horse', { salt }),
    enqueueHash('horse', { salt: other }),
    enqueueHash('battery', { salt }),
  ])
  expect(Buffer.from(first, 'base64')).toHaveLength(32)
  expect([again === first, salted === first, worded === first]).toEqual([true, false, false])
})

test.runIf(process.platform === 'linux')(
  'a hashing thread has a lower priority than the event loop, but not the lowest',
  async () => {
    await enqueueHash('horse')
    // The 19th field (proc(5)), counted after the name, which is in parentheses.
    const priorities = readdirSync('/proc/self/task').map((id) => {
      const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8')
      return [Number(id) === process.pid, stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]]
    })
    expect(priorities).toContainEqual([false, '5'])
    expect(priorities).toContainEqual([true, '0'])
    expect(priorities).toContainEqual([true, '0'])
  },
)

test.runIf(process.platform === 'linux')('a hashing thread works where its priority cannot be changed', async () => {
  const forbid = `import os from 'node:os'
    import { syncBuiltinESMExports } from 'node:module'
    os.setPriority = () => { throw new Error('EPERM') }
    syncBuiltinESMExports()`
  const execArgv = ['--import', `data:text/javascript,${encodeURIComponent(forbid)}`]
  const thread = new Worker(new URL('../src/passwords/hashing-thread.mjs', import.meta.url), { execArgv })
  thread.postMessage({ text: 'horse' })
  const [{ hash }] = await once(thread, 'message')
  await thread.terminate()
  expect(await verify(hash, 'horse')).toBe(true)
})
