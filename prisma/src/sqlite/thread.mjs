// The thread of thread.ts. Each message with a statement is answered with its rows or its error; 'close' ends the thread.
// JavaScript, because TypeScript costs a thread 17 MB more.
import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'

const LOCK_WAIT_MS = 5_000

const { file, readonly } = workerData
const sqlite = new Sqlite(file, { readonly, timeout: LOCK_WAIT_MS })
// In KiB. SQLite's default of 2 MB holds few pages of what long reads walk through.
if (readonly) sqlite.pragma('cache_size = -65536')
// A commit of this thread does not checkpoint: writes would wait for it.
else sqlite.pragma('wal_autocheckpoint = 0')

parentPort?.on('message', (message) => {
  if (message === 'close') {
    sqlite.close()
    parentPort?.close()
    return
  }
  try {
    const statement = sqlite.prepare(message.text)
    const columns = message.isRaw ? statement.columns().map(({ name, type }) => ({ name, type })) : []
    const rows = statement.reader ? statement.raw(message.isRaw).all(message.values) : []
    if (!statement.reader) statement.run(message.values)
    parentPort?.postMessage({ rows, columns })
  } catch (error) {
    // A copy of an error between threads lacks its code.
    parentPort?.postMessage({ error: { message: error.message, code: error.code } })
  }
})
