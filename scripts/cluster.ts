// The cluster of deploy/cluster on this machine (docs/guides/cluster.md).
import { join } from 'node:path'
import { downloadPrograms, startCluster, stopCluster } from '../packages/postgres-test/src/cluster/cluster.ts'

const USAGE = `npm run cluster start FOLDER      starts what does not run; CLUSTER_PORT is the first of 16 ports (14000)
npm run cluster stop FOLDER       stops all
npm run cluster download FOLDER   unpacks the Debian packages that the system lacks into FOLDER`

const commands: Record<string, (folder: string) => Promise<unknown>> = {
  start: async (folder) => {
    const port = Number(process.env.CLUSTER_PORT ?? 14_000)
    const cluster = await startCluster(folder, { port, settings: process.env })
    console.log(`The service: ${cluster.url}\nAll addresses and the password: ${join(folder, 'cluster.json')}`)
  },
  stop: stopCluster,
  download: (folder) => downloadPrograms(join(folder, 'programs')),
}

const [name = '', folder, ...more] = process.argv.slice(2)
const command = commands[name]
if (command === undefined || folder === undefined || more.length > 0) {
  console.error(USAGE)
  process.exit(2)
}
await command(folder).catch((error: Error & { stderr?: string }) => {
  console.error(error.stderr?.trim() || error.message)
  process.exitCode = 1
})
