// Starts test servers for tests of other packages, which may not import the service: many in one process, because a
// process takes ten times as long to start as a server.
import { createTestServer, type TestServer } from '../src/testing/testing.ts'

const servers = new Map<string, TestServer>()

process.on('message', async (url: string) => {
  if (url !== '') return stop(url)
  const server = await createTestServer()
  servers.set(server.url, server)
  process.send?.(server.url)
})

process.on('disconnect', async () => {
  await Promise.all([...servers.keys()].map(stop))
  process.exit()
})

async function stop(url: string) {
  await servers.get(url)?.stop()
  servers.delete(url)
}
