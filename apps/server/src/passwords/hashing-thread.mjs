// A worker thread of hash-queue.ts. It answers each message `{ text, salt? }` with `{ hash }` or `{ error }`. In JavaScript,
// because loading TypeScript costs 17 MB more per thread.
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { hashRawSync, hashSync } from '@node-rs/argon2'

// 19 MiB, 2 passes, 1 lane: the first of OWASP's recommended settings. `2` is argon2id.
const ARGON2ID = { algorithm: 2, memoryCost: 19456, timeCost: 2, parallelism: 1 }

// Lower than the event loop's. With a busy other process, a thread gets a quarter of a core at this priority, but only 1.5 %
// at the lowest. Only Linux has priorities per thread.
const PRIORITY = 5
try {
  if (process.platform === 'linux') setPriority(PRIORITY)
} catch {
  // A sandbox that forbids it only slows down reads during hashing.
}

parentPort?.on('message', ({ text, salt }) => {
  try {
    const hash =
      salt === undefined ? hashSync(text, ARGON2ID) : hashRawSync(text, { ...ARGON2ID, salt }).toString('base64')
    parentPort?.postMessage({ hash })
  } catch (error) {
    parentPort?.postMessage({ error })
  }
})
