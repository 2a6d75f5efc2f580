// Prints the files of this repository on the call stack of a POST /api/users/bulk when it stores its first row on
// SQLite. The stack includes async callers. A debugger in a second thread reads it at a breakpoint.
import { readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'

type Frames = { url: string }[]
type AsyncStack = { callFrames: Frames; parent?: AsyncStack }

const root = new URL('../../../', import.meta.url).href
const STATEMENT = new URL('prisma/src/sqlite/connection.ts', root)

if (isMainThread) await serve()
else await readStack()

async function serve() {
  const { pino } = await import('pino')
  const { readConfig } = await import('../src/process/config.ts')
  const { startServer } = await import('../src/server.ts')
  await using folder = await mkdtempDisposable(join(tmpdir(), 'call-stack-'))
  const config = readConfig({ DATABASE_URL: `file:${join(folder.path, 'service.db')}`, PORT: '0' })
  const { url, stop } = await startServer(config, pino({ level: 'silent' }))
  const debuggerThread = new Worker(new URL(import.meta.url))
  await new Promise((ready) => debuggerThread.once('message', ready))
  const files = new Promise<string[]>((resolve) => debuggerThread.once('message', resolve))
  await fetch(`${url}/api/users/bulk`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify([{ name: 'Ada', email: 'ada@example.com' }]),
  })
  process.stdout.write(`${(await files).join('\n')}\n`)
  await debuggerThread.terminate()
  await stop()
}

async function readStack() {
  setInterval(() => undefined, 60_000) // A session does not keep its thread alive.
  const session = new Session()
  session.connectToMainThread()
  const scripts = new Map<string, string>()
  session.on('Debugger.scriptParsed', ({ params }) => scripts.set(params.scriptId, params.url))
  session.on('Debugger.paused', async ({ params: { callFrames, asyncStackTrace } }) => {
    const urls = callFrames.map(({ location }) => scripts.get(location.scriptId) ?? '')
    for (let stack = asyncStackTrace as AsyncStack | undefined; stack !== undefined; stack = stack.parent) {
      urls.push(...stack.callFrames.map(({ url }) => url))
    }
    const own = urls.filter((url) => url.startsWith(root) && !url.includes('/node_modules/'))
    await session.post('Debugger.disable')
    parentPort?.postMessage([...new Set(own.map((url) => url.slice(root.length)))].reverse())
  })
  await session.post('Debugger.enable')
  await session.post('Debugger.setAsyncCallStackDepth', { maxDepth: 100 })
  const lines = readFileSync(STATEMENT, 'utf8').split('\n')
  const lineNumber = lines.findIndex((line) => line.includes('of rows) ') && line.includes('statement.run('))
  await session.post('Debugger.setBreakpointByUrl', { url: STATEMENT.href, lineNumber })
  parentPort?.postMessage('ready')
}
