import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chown, copyFile, mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { IDENTITY, query } from '../postgres.ts'
import { type Cluster, clusterAt, DEPLOY, localPooler, type Part, partsOf } from './parts.ts'
import { environmentIn, programIn } from './programs.ts'

export type { Cluster } from './parts.ts'
export { downloadPrograms } from './programs.ts'

const FILES = ['patroni.yml', 'haproxy.cfg', 'cluster.env']
const PATH = '/usr/sbin:/usr/bin:/sbin:/bin'
const START_LIMIT_MS = 90_000
const STOP_LIMIT_MS = 20_000

/**
 * Starts what does not run of a cluster on this machine: etcd, three PostgreSQL servers under Patroni, HAProxy, PgBouncer and two
 * instances of the service, with the files of `deploy/cluster`. As root the first four run as `nobody`. They run until
 * {@link stopCluster}.
 *
 * @param folder of its state; Debian packages may be unpacked in its folder `programs`
 * @param port the first of its 16 ports, for a new cluster
 * @param settings of the instances
 * @throws Error with the logs of a part that ended or does not respond
 */
export async function startCluster(
  folder: string,
  { port = 14_000, settings = {} }: { port?: number; settings?: Part['environment'] } = {},
): Promise<Cluster> {
  const state = resolve(folder)
  const cluster = (await readCluster(state)) ?? (await createCluster(state, port))
  const parts = partsOf(state, cluster, settings)
  const ended = new Set<string>()
  const start = async (prefix: string) => {
    for (const part of parts) if (part.name.startsWith(prefix)) await startPart(state, part, ended)
  }
  const responds = (url: string) =>
    retried(state, ended, async () => {
      const response = await fetch(url)
      await response.body?.cancel()
      if (!response.ok) throw new Error(`${url} got status ${response.status}`)
    })
  for (const prefix of ['etcd', 'postgresql', 'haproxy', 'pgbouncer']) await start(prefix)
  await Promise.all(Object.values(cluster.patroni).map((url) => responds(`${url}/health`)))
  await retried(state, ended, () => createDatabase(state, cluster))
  await start('service')
  await Promise.all([...cluster.instances, cluster.url].map((url) => responds(`${url}/readyz`)))
  return cluster
}

/** Stops all processes of a cluster, in the opposite order. They end by force if they need longer than 20 s. */
export async function stopCluster(folder: string): Promise<void> {
  for (const prefix of ['service', 'pgbouncer', 'haproxy', 'postgresql', 'etcd']) {
    const until = performance.now() + STOP_LIMIT_MS
    let sent: NodeJS.Signals | undefined
    while (processesOf(folder, prefix).length > 0) {
      const signal = performance.now() > until ? 'SIGKILL' : 'SIGTERM'
      if (signal !== sent) signalPart(folder, prefix, signal)
      sent = signal
      await sleep(50)
    }
  }
}

/** Stops a cluster and deletes its folder when it is disposed of, and also if this process is killed. */
export function stopLater(folder: string): AsyncDisposable {
  const program = fileURLToPath(new URL('guard.ts', import.meta.url))
  const guard = spawn(process.execPath, [program, folder], { stdio: ['pipe', 'inherit', 'inherit'], detached: true })
  return {
    [Symbol.asyncDispose]: async () => {
      const ended = once(guard, 'exit')
      guard.stdin.end()
      await ended
    },
  }
}

/** Sends a signal to the processes of a part, such as `postgresql1`: Patroni and the PostgreSQL server that it started. */
export function signalPart(folder: string, part: string, signal: NodeJS.Signals): void {
  for (const pid of processesOf(folder, part)) {
    try {
      process.kill(pid, signal)
    } catch {
      // It has just ended.
    }
  }
}

/** The process id of the PostgreSQL server of a member. */
export function postmasterOf(folder: string, member: string): number {
  return Number.parseInt(readFileSync(join(folder, member, 'postmaster.pid'), 'utf8'), 10)
}

/** Calls Patroni's REST API. Returns the response as text. */
export async function callPatroni(
  { patroni, password }: Cluster,
  member: string,
  method: string,
  path: string,
  body?: object,
): Promise<string> {
  const response = await fetch(`${patroni[member]}${path}`, {
    method,
    headers: { Authorization: `Basic ${btoa(`patroni:${password}`)}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`Patroni: ${method} ${path} got status ${response.status}: ${text}`)
  return text
}

async function readCluster(folder: string): Promise<Cluster | undefined> {
  const file = join(folder, 'cluster.json')
  return existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : undefined
}

async function createCluster(folder: string, port: number): Promise<Cluster> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const password = randomBytes(24).toString('hex')
  const cluster = clusterAt(port, password)
  for (const name of FILES) await copyFile(join(DEPLOY, 'cluster', name), join(folder, name))
  const pooler = await readFile(join(DEPLOY, 'cluster', 'pgbouncer.ini'), 'utf8')
  await writeFile(join(folder, 'pgbouncer.ini'), localPooler(pooler, folder, cluster))
  await writeFile(join(folder, 'userlist.txt'), `"resource" "${password}"\n"pgbouncer" "${password}"\n`, {
    mode: 0o600,
  })
  const { uid, gid } = IDENTITY
  if (uid !== undefined && gid !== undefined) {
    await chown(folder, uid, gid)
    await chown(join(folder, 'userlist.txt'), uid, gid)
  }
  await writeFile(join(folder, 'cluster.json'), JSON.stringify(cluster, null, 2), { mode: 0o600 })
  return cluster
}

/** Starts a part, unless it runs, and adds its name to `ended` when it ends. Its output goes to a file of its name. */
async function startPart(
  folder: string,
  { name, command: [program, ...args], environment }: Part,
  ended: Set<string>,
): Promise<void> {
  if (processesOf(folder, name).length > 0) return
  await using log = await open(join(folder, `${name}.log`), 'a', 0o600)
  const child = spawn(program, args, {
    cwd: folder,
    env: {
      PATH,
      HOME: folder,
      LC_ALL: 'C.UTF-8',
      ...(!name.startsWith('service') && environmentIn(join(folder, 'programs'))),
      ...environment,
      [MARK]: `${folder} ${name}`,
    },
    stdio: ['ignore', log.fd, log.fd],
    detached: true,
    // The service may be installed where `nobody` has no access.
    ...(!name.startsWith('service') && IDENTITY),
  })
  child.on('error', () => ended.add(name)).on('exit', () => ended.add(name))
  child.unref()
}

// Identifies the processes, also those that Patroni started: with process ids in files, a stop could hit another process.
const MARK = 'RESOURCE_CLUSTER_PART'

/** The processes of the parts whose names begin with `prefix`. */
export function processesOf(folder: string, prefix: string): number[] {
  const read = (pid: string, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'latin1')
    } catch {
      return ''
    }
  }
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const mark = `${MARK}=${resolve(folder)} ${prefix}`
  const marked = new Set(all.filter((pid) => read(pid, 'environ').includes(mark)))
  // PostgreSQL's own processes overwrite their environment.
  const parentOf = (pid: string) => /\) \w (\d+)/.exec(read(pid, 'stat'))?.[1] ?? ''
  return all.filter((pid) => marked.has(pid) || marked.has(parentOf(pid))).map(Number)
}

/** Creates the role and the database of the service, unless they exist. */
async function createDatabase(folder: string, cluster: Cluster): Promise<void> {
  const primary = new URL(cluster.primaryUrl)
  primary.username = 'postgres'
  primary.pathname = '/postgres'
  const { rows } = await query(primary.href, `SELECT 1 FROM pg_database WHERE datname = 'resource'`)
  if (rows.length > 0) return
  const programs = join(folder, 'programs')
  const bin = dirname(programIn(programs, 'usr/lib/postgresql/*/bin/postgres'))
  await promisify(execFile)('sh', [join(DEPLOY, 'postgres-role.sh')], {
    env: {
      ...environmentIn(programs),
      PATH: `${bin}:${PATH}`,
      PGHOST: primary.hostname,
      PGPORT: primary.port,
      PGPASSWORD: cluster.password,
      POSTGRES_USER: 'postgres',
      RESOURCE_PASSWORD: cluster.password,
    },
  })
}

/** Repeats an action until it succeeds. @throws Error when a part has ended, or it fails for too long */
async function retried(folder: string, ended: Set<string>, action: () => Promise<void>): Promise<void> {
  const until = performance.now() + START_LIMIT_MS
  for (;;) {
    try {
      return await action()
    } catch (error) {
      const [name] = ended
      if (name !== undefined) {
        throw new Error(`${name} ended:\n${readFileSync(join(folder, `${name}.log`), 'utf8').slice(-2000)}`)
      }
      if (performance.now() > until) throw error
      await sleep(100)
    }
  }
}
