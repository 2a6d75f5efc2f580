// The thread that does the checkpoints of sqlite-log.ts. `workerData` is the database's file; each 'checkpoint' is
// answered with the error there was, or undefined; 'close' ends it. JavaScript: to load TypeScript takes a thread 17 MB more.
import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'

const sqlite = new Sqlite(workerData)

parentPort?.on('message', (message) => {
  if (message === 'close') {
    sqlite.close()
    parentPort?.close()
    return
  }
  try {
    // Waits for nobody and keeps nobody waiting: writes go on, and what they add is not part of it.
    sqlite.pragma('wal_checkpoint(PASSIVE)')
    parentPort?.postMessage(undefined)
  } catch (error) {
    parentPort?.postMessage(error)
  }
})
