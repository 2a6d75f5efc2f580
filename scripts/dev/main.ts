// Runs the service and the console on one port during development: see "Develop" in CONTRIBUTING.md.
import { once } from 'node:events'
import { Agent, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer, type FSWatcher, type Plugin, type ProxyOptions } from 'vite'
import { readConfig } from '../../apps/server/src/process/config.ts'
import { freePort } from '../../packages/postgres-test/src/free-port.ts'
import { root, run, stopping } from '../run-command.mjs'

const HOST = '127.0.0.1'
const SAMPLE_DATABASE = 'file:./data/dev.db'
// A restart of the service takes about one second.
const MAX_WAIT_MS = 5000
const POLL_MS = 20
// With the migrations, which run at the start.
const SOURCES = [
  'apps/server/src',
  'packages/contract/src',
  'packages/openapi/src',
  'prisma/src',
  'prisma/generated',
  'prisma/migrations',
]
const STOPPED = 'The service has stopped: see the terminal. It starts when you save a change.\n'
// The paths that Vite does not serve.
const SERVICE = '^(?!/console/)|^/console/session$'

async function develop(): Promise<void> {
  const database = process.env.DATABASE_URL || SAMPLE_DATABASE
  const { PORT } = readConfig({ ...process.env, DATABASE_URL: database })
  const port = await freePort()
  const vite = await createServer({
    root: join(root, 'apps/console'),
    logLevel: 'warn',
    plugins: [consolePath],
    // The service answers cross-origin requests itself. It sees every request come from this computer and lets it in without
    // a key, so Vite must not listen on other addresses.
    server: {
      host: HOST,
      port: PORT,
      strictPort: true,
      cors: false,
      // By default the whole repository, with the database.
      fs: { allow: ['apps', 'packages', 'node_modules'].map((folder) => join(root, folder)) },
      proxy: { [SERVICE]: proxyTo(port) },
    },
  })
  // Other requests with `Upgrade` get an ordinary answer, as from the service.
  const isViteSocket = ({ headers }: IncomingMessage) => headers['sec-websocket-protocol']?.startsWith('vite-') ?? false
  Object.assign(vite.httpServer ?? {}, { shouldUpgradeCallback: isViteSocket })
  try {
    await vite.listen().catch(explain)
    if (database === SAMPLE_DATABASE) await seed(database)
    const [consoleUrl = ''] = vite.resolvedUrls?.local ?? []
    // Once the service answers: its first start may take longer than a request waits.
    connected(port, Number.POSITIVE_INFINITY).then((socket) => {
      socket.destroy()
      console.log(`Service: ${new URL(consoleUrl).origin}  Console: ${consoleUrl}  Both follow changes of the sources.`)
    })
    const env = { LOG_LEVEL: 'warn', ...process.env, DATABASE_URL: database, HOST, PORT: String(port) }
    process.exitCode = await serve(vite.watcher, env)
  } finally {
    await vite.close()
  }
}

/**
 * Runs the service, and restarts it when one of its sources changes. `node --watch` would miss a change during a start: it
 * watches a module only once it is loaded.
 */
async function serve(watcher: FSWatcher, env: NodeJS.ProcessEnv): Promise<number> {
  const folders = SOURCES.map((folder) => join(root, folder, '/'))
  let change = new AbortController()
  watcher.add(folders).on('all', (_event, file) => {
    if (folders.some((folder) => file.startsWith(folder))) change.abort()
  })
  for (;;) {
    const { code } = await run('node', ['apps/server/src/main.ts'], { env, abort: change.signal })
    if (!change.signal.aborted && !stopping())
      console.error('The service has stopped. It starts when you save a change.')
    while (!change.signal.aborted && !stopping()) await sleep(POLL_MS)
    if (stopping()) return code
    change = new AbortController()
  }
}

async function seed(database: string): Promise<void> {
  const args = ['apps/server/scripts/seed/main.ts', '--database', database]
  const { code, output } = await run('node', args, { quiet: true })
  // The service starts without the sample data that it refuses.
  if (code !== 0) console.error(output.trimEnd())
}

const consolePath: Plugin = {
  name: 'console-path',
  configureServer({ middlewares }) {
    middlewares.use((req, res, next) => {
      if (req.url !== '/console') return next()
      res.writeHead(302, { Location: '/console/' }).end()
    })
  },
}

function proxyTo(port: number): ProxyOptions {
  return {
    target: `http://${HOST}:${port}`,
    agent: new ServiceAgent(),
    configure: (proxy) =>
      proxy.on('error', (_error, _req, response) => {
        const res = response as ServerResponse
        if (res.headersSent) return
        res.writeHead(503, { 'Content-Type': 'text/plain' }).end(STOPPED)
      }),
  }
}

/** Requests wait while the service restarts. */
class ServiceAgent extends Agent {
  override createConnection(...[{ port }, callback]: Parameters<Agent['createConnection']>) {
    connected(Number(port), MAX_WAIT_MS).then(
      (socket) => callback?.(null, socket),
      (error) => callback?.(error, undefined as never),
    )
    return undefined
  }
}

async function connected(port: number, waitMs: number): Promise<Socket> {
  const end = performance.now() + waitMs
  for (;;) {
    const socket = connect(port, HOST)
    try {
      await once(socket, 'connect')
      return socket
    } catch (error) {
      if (performance.now() > end) throw error
      await sleep(POLL_MS, undefined, { ref: false })
    }
  }
}

function explain(error: Error): never {
  if (/already in use/.test(error.message)) {
    throw new Error('The port is in use: set PORT to another, or stop the program that uses it')
  }
  throw error
}

try {
  await develop()
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
