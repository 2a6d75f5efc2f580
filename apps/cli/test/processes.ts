import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough, Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { spawn as openTerminal } from '@lydell/node-pty'
import { type Client, createClient } from '@resource/client'
import { createTestServer } from '@resource/server/testing'
import { runCommand } from '../src/run.ts'

const SERVER = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
const CLI = fileURLToPath(new URL('../src/main.mjs', import.meta.url))
// As `npm start` sets it.
const COMPILE_CACHE = fileURLToPath(new URL('../../../node_modules/.cache/node', import.meta.url))
// The same flags as in package.json and the first line of main.mjs.
const MEMORY = ['--max-old-space-size=64', '--max-semi-space-size=4']
const PEAK_MEMORY = new URL('peak-memory.mjs', import.meta.url).href

interface Result {
  code: number | null
  stdout: string
  stderr: string
}

interface ProcessResult extends Result {
  /** Peak resident memory of the process in MiB; NaN if it was killed. */
  peakMiB: number
}

/** Starts the real service in this process, with the command line connected to it. */
export async function startService() {
  const folder = await temporaryFolder()
  const { url, stop } = await createTestServer({ file: join(folder.path, 'data', 'resource.db') })
  return connected(folder, { url, stop, [Symbol.asyncDispose]: stop })
}

/**
 * Starts the real service in a process of its own, which a test can kill: in a new folder, or in the folder of an earlier
 * run, with the command line connected to it.
 */
export async function startServiceProcess(path?: string, port = '0') {
  const folder = await temporaryFolder(path)
  return connected(folder, await folder.serve({ PORT: port }))
}

interface Service extends AsyncDisposable {
  url: string
  stop: (signal: NodeJS.Signals) => Promise<void>
}

function connected(folder: Awaited<ReturnType<typeof temporaryFolder>>, service: Service) {
  const { url } = service
  const start = (args: string[], input?: string | Buffer, environment: Record<string, string> = {}, limits?: string) =>
    folder.start(args, { RESOURCE_URL: url, ...environment }, input, limits)
  return {
    url,
    folder: folder.path,
    /** Stops the service; the command line and the folder remain. */
    stop: service.stop,
    client: createClient({ baseUrl: url }) as Client,
    /** Starts a command in a process of its own. */
    start,
    /** Runs a command in this process. */
    run: (args: string[], input?: string | Buffer, environment: Record<string, string> = {}) =>
      runInProcess(folder.path, args, { RESOURCE_URL: url, ...environment }, input),
    /** Runs a command whose files can have at most 4 KiB, as on a disk that is almost full. */
    runOnFullDisk: (args: string[]) => start(args, '', { NODE_DISABLE_COMPILE_CACHE: '1' }, 'ulimit -f 8').ended,
    /** Runs a command in this process, to which its streams are terminals, and types an answer whenever a question appears. */
    type: (args: string[], answers: Answer[], environment: Record<string, string> = {}) =>
      typeInProcess(folder.path, args, answers, { RESOURCE_URL: url, ...environment }),
    /** The same on a real terminal, in a process of its own. */
    typeOnTerminal: (args: string[], answers: Answer[], options: TerminalOptions = {}) =>
      typeCommand(folder.path, args, answers, {
        ...options,
        environment: { RESOURCE_URL: url, ...options.environment },
      }),
    path: (name: string) => join(folder.path, name),
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]()
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** A proxy of a service. It forwards every request, and drops the connection instead of a response that `isLost`. */
export async function startProxy(url: string, isLost: (url: string) => boolean) {
  const proxy = createServer((req, res) => {
    const forwarded = request(`${url}${req.url}`, { method: req.method, headers: req.headers }, (answer) => {
      if (isLost(req.url ?? '')) return void answer.resume().on('end', () => res.destroy())
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(res)
    })
    req.pipe(forwarded)
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      proxy.closeAllConnections()
      proxy.close()
    },
  }
}

/** A working directory for the service and the command line; new and empty without `path`. `await using` removes it. */
export async function temporaryFolder(path?: string) {
  path ??= await mkdtemp(join(tmpdir(), 'resource-cli-'))
  const start = (args: string[], environment: Record<string, string>, input: string | Buffer = '', limits?: string) =>
    startCommand(path, args, environment, input, limits)
  return {
    path,
    start,
    /** Runs a command in this process. */
    run: (args: string[], environment: Record<string, string> = {}) => runInProcess(path, args, environment),
    serve: (environment: Record<string, string> = {}) => serve(path, environment),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

/** @throws Error with the service's stderr, if it exits before it listens */
async function serve(folder: string, environment: Record<string, string>) {
  const service = spawn(process.execPath, [SERVER], {
    cwd: folder,
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE, PORT: '0', ...environment },
  })
  const closed = once(service, 'close')
  const stderr = text(service.stderr)
  const url = await new Promise<string>((resolve, reject) => {
    closed.then(async () => reject(new Error(await stderr)))
    createInterface({ input: service.stdout }).on('line', (line) => {
      const { url } = JSON.parse(line) as { url?: string }
      if (url !== undefined) resolve(url)
    })
  })
  const stop = async (signal: NodeJS.Signals) => {
    service.kill(signal)
    await closed
  }
  return { url, stop, [Symbol.asyncDispose]: () => stop('SIGKILL') }
}

/** The settings and memory of the command line are in the folder, never those of the person who runs the tests. */
function homeIn(folder: string) {
  return { XDG_CONFIG_HOME: join(folder, '.config'), XDG_STATE_HOME: join(folder, '.state') }
}

const SETTINGS = /^(?:RESOURCE_.*|DATABASE_URL|EDITOR|VISUAL|BROWSER)$/
let running: Promise<unknown> = Promise.resolve()

/**
 * Runs a command in this process, which is many times cheaper than a process of its own. Folder, variables and streams belong
 * to the process, so commands run one after the other.
 */
async function runInProcess(
  folder: string,
  args: string[],
  environment: Record<string, string>,
  input: string | Buffer = '',
): Promise<Result> {
  const stdout = collector()
  const stderr = collector()
  const streams = { stdin: Readable.from(pieces(Buffer.from(input))), stdout: stdout.stream, stderr: stderr.stream }
  const code = await runOn(streams, folder, args, environment)
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

async function typeInProcess(folder: string, args: string[], answers: Answer[], environment: Record<string, string>) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin })
  const typist = typeAnswers(answers, (text) => stdin.write(text))
  const write = (chunk: Buffer, _encoding: unknown, done: () => void) => {
    typist.read(chunk.toString())
    done()
  }
  const screen = Object.assign(new Writable({ write }), { isTTY: true, columns: 80, rows: 50 })
  const code = await runOn({ stdin, stdout: screen, stderr: screen }, folder, args, environment)
  return { code, screen: typist.screen() }
}

function runOn(
  { stdin, stdout, stderr }: { stdin: Readable; stdout: Writable; stderr: Writable },
  folder: string,
  args: string[],
  environment: Record<string, string>,
): Promise<number> {
  const result = running.then(async () => {
    const cwd = process.cwd()
    const variables = { ...process.env }
    const restore = [replaceStream('stdin', stdin), replaceStream('stdout', stdout), replaceStream('stderr', stderr)]
    process.chdir(folder)
    for (const name of Object.keys(process.env)) if (SETTINGS.test(name)) delete process.env[name]
    Object.assign(process.env, homeIn(folder), environment)
    try {
      return await runCommand(args)
    } finally {
      for (const restoreStream of restore) restoreStream()
      for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name]
      Object.assign(process.env, variables)
      process.chdir(cwd)
    }
  })
  running = result.catch(() => undefined)
  return result
}

/** @returns what restores the stream */
function replaceStream(name: 'stdin' | 'stdout' | 'stderr', value: Readable | Writable): () => void {
  const original = Object.getOwnPropertyDescriptor(process, name) as PropertyDescriptor
  Object.defineProperty(process, name, { value, configurable: true })
  return () => void Object.defineProperty(process, name, original)
}

/** As a pipe delivers them. */
function* pieces(bytes: Buffer) {
  for (let start = 0; start < bytes.length; start += 65_536) yield bytes.subarray(start, start + 65_536)
}

function collector() {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(chunk)
      done()
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString() }
}

/** What is typed when the output contains `question`: a line, or a single key. */
type Answer = { question: string } & ({ text: string | (() => Promise<string>) } | { key: string })

interface TerminalOptions {
  columns?: number
  environment?: Record<string, string>
}

/** @returns the exit code and everything that the terminal received, with simple line ends */
async function typeCommand(
  folder: string,
  args: string[],
  answers: Answer[],
  { columns = 80, environment = {} }: TerminalOptions,
): Promise<{ code: number; screen: string }> {
  const terminal = openTerminal(process.execPath, [...MEMORY, CLI, ...args], {
    cwd: folder,
    env: { ...homeIn(folder), TERM: 'xterm', PATH: process.env.PATH, ...environment },
    cols: columns,
    rows: 50,
  })
  const typist = typeAnswers(answers, (text) => terminal.write(text))
  terminal.onData(typist.read)
  const code = await new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)))
  return { code, screen: typist.screen() }
}

/** Types each answer once its question is on the screen. */
function typeAnswers(answers: Answer[], type: (text: string) => void) {
  const open = [...answers]
  let screen = ''
  let unread = 0
  return {
    read: (text: string) => {
      screen += text
      for (let next = open[0]; next !== undefined && screen.includes(next.question, unread); next = open[0]) {
        unread = screen.indexOf(next.question, unread) + next.question.length
        open.shift()
        if ('key' in next) {
          type(next.key)
          continue
        }
        const { text } = next
        Promise.resolve(typeof text === 'string' ? text : text()).then((text) => type(`${text}\r`))
      }
    },
    /** Everything that was written, with simple line ends. */
    screen: () => stripVTControlCharacters(screen).replaceAll('\r\n', '\n'),
  }
}

function startCommand(
  folder: string,
  args: string[],
  environment: Record<string, string>,
  input: string | Buffer,
  limits = ':',
) {
  const command = [process.execPath, ...MEMORY, '--import', PEAK_MEMORY, CLI, ...args]
  const child = spawn('sh', ['-c', `${limits}; exec "$@"`, 'sh', ...command], {
    cwd: folder,
    env: { ...homeIn(folder), ...environment },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  })
  // The command may exit before it has read all of stdin.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const { stdout, stderr } = child
  const peak = child.stdio[3] as NodeJS.ReadableStream
  const ended = Promise.all([once(child, 'close'), text(stdout), text(stderr), text(peak)]).then(
    ([[code], stdout, stderr, peak]): ProcessResult => ({
      code,
      stdout,
      stderr,
      peakMiB: Number.parseInt(peak, 10) / 1024,
    }),
  )
  /** Sends the signal once stderr contains `output`. */
  const signalAt = (output: string, signal: NodeJS.Signals) => {
    let seen = ''
    stderr.on('data', (chunk) => {
      const before = seen.includes(output)
      seen += chunk
      if (!before && seen.includes(output)) child.kill(signal)
    })
    return ended
  }
  /** Waits until stderr has contained `output`. */
  const seen = (output: string) =>
    new Promise<void>((resolve) => {
      let seen = ''
      stderr.on('data', (chunk) => {
        seen += chunk
        if (seen.includes(output)) resolve()
      })
    })
  return { ended, signalAt, seen }
}
