// Stops a cluster and deletes its folder when its own stdin is closed, `node guard.ts FOLDER`: also if the process that started
// the cluster was killed.
import { rm } from 'node:fs/promises'
import { stopCluster } from './cluster.ts'

const [folder = ''] = process.argv.slice(2)
process.stdin
  .on('close', async () => {
    await stopCluster(folder)
    await rm(folder, { recursive: true, force: true })
  })
  .resume()
