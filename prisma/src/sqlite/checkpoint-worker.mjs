// Worker thread that runs the checkpoints of wal.ts. `workerData` is the path of the database file. Each 'checkpoint' message
// is answered with an error or undefined; 'close' ends the thread. JavaScript, because TypeScript costs a thread 17 MB more.
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
    // PASSIVE does not block: writes continue, and the checkpoint does not include what they add.
    sqlite.pragma('wal_checkpoint(PASSIVE)')
    parentPort?.postMessage(undefined)
  } catch (error) {
    parentPort?.postMessage(error)
  }
})
