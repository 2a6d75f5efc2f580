// Runs the service and the console on one port during development: see "Develop" in CONTRIBUTING.md.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer, type Plugin, type ProxyOptions } from 'vite'
import { readConfig } from '../../apps/server/src/process/config.ts'
import { freePort } from '../../packages/postgres-test/src/free-port.ts'
import { root, run, stopping } from '../run-command.mjs'

const HOST = '127.0.0.1'
const SAMPLE_DATABASE = 'file:./data/dev.db'
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
// A restart takes about one second.
const AWAY = 'The service is starting, or has stopped: see the terminal. It starts when you save a change.\n'
// The paths that Vite does not serve.
const SERVICE = '^(?!/console/)|^/console/((session|status)$|sign-in)'

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
    const env = { LOG_LEVEL: 'warn', ...process.env, DATABASE_URL: database, HOST, PORT: String(port) }
    const paths = SOURCES.map((folder) => `--watch-path=${folder}`)
    const running = run('node', [...paths, '--watch-preserve-output', 'apps/server/src/main.ts'], { env })
    while (!stopping() && !(await answers(port))) await sleep(POLL_MS)
    console.log(`Service: ${new URL(consoleUrl).origin}  Console: ${consoleUrl}  Both follow changes of the sources.`)
    process.exitCode = (await running).code
  } finally {
    await vite.close()
  }
}

/** Whether the service has started. */
function answers(port: number): Promise<boolean> {
  return fetch(`http://${HOST}:${port}/healthz`).then(
    () => true,
    () => false,
  )
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
    configure: (proxy) =>
      proxy.on('error', (_error, _req, response) => {
        const res = response as ServerResponse
        if (res.headersSent) return
        res.writeHead(503, { 'Content-Type': 'text/plain' }).end(AWAY)
      }),
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
