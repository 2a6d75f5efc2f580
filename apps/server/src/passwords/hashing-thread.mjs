// A thread of hashing.ts. Each message, `{ text, salt? }`, is answered with `{ hash }`, or with `{ error }`. JavaScript: to
// load TypeScript takes a thread 17 MB more.
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { hashRawSync, hashSync } from '@node-rs/argon2'

// 19 MiB, 2 passes, 1 lane: the first of OWASP's recommended settings. `2` is argon2id.
const ARGON2ID = { algorithm: 2, memoryCost: 19456, timeCost: 2, parallelism: 1 }

// The event loop comes first. At the lowest priority a busy neighbor would leave a thread 1.5 % of a core; at this one it
// leaves it a quarter. Linux alone gives each thread a priority of its own.
const PRIORITY = 5
if (process.platform === 'linux') setPriority(PRIORITY)

parentPort?.on('message', ({ text, salt }) => {
  try {
    const hash =
      salt === undefined ? hashSync(text, ARGON2ID) : hashRawSync(text, { ...ARGON2ID, salt }).toString('base64')
    parentPort?.postMessage({ hash })
  } catch (error) {
    parentPort?.postMessage({ error })
  }
})
