// The thread that does the checkpoints of sqlite-log.ts. `workerData` is the database's file; each message is answered
// with the error there was, or undefined.
import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'

const sqlite = new Sqlite(workerData as string)

parentPort?.on('message', (message: 'checkpoint' | 'close') => {
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
