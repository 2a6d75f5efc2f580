// A thread of hashing.ts. Each message, `{ text, salt? }`, is answered with `{ hash }`, or with `{ error }`. JavaScript: to
// load TypeScript takes a thread 17 MB more.
import { constants, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { hashRawSync, hashSync } from '@node-rs/argon2'

// 19 MiB, 2 passes, 1 lane: the first of OWASP's recommended settings. `2` is argon2id.
const ARGON2ID = { algorithm: 2, memoryCost: 19456, timeCost: 2, parallelism: 1 }

// Whoever else wants a core comes first. Linux alone gives each thread a priority of its own.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW)

parentPort?.on('message', ({ text, salt }) => {
  try {
    const hash =
      salt === undefined ? hashSync(text, ARGON2ID) : hashRawSync(text, { ...ARGON2ID, salt }).toString('base64')
    parentPort?.postMessage({ hash })
  } catch (error) {
    parentPort?.postMessage({ error })
  }
})
