import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { programIn } from './programs.ts'

/** The folder with the configuration files. */
export const DEPLOY = fileURLToPath(new URL('../../../../deploy', import.meta.url))
const MAIN = fileURLToPath(new URL('../../../../apps/server/src/main.ts', import.meta.url))

const MEMBERS = [1, 2, 3]

/** One program of the cluster. */
export interface Part {
  name: string
  command: [string, ...string[]]
  environment: Record<string, string | undefined>
}

export interface Cluster {
  /** Of HAProxy, which forwards requests to the instances that are ready. */
  url: string
  /** Of the two instances. */
  instances: string[]
  /** The database through PgBouncer, as the instances use it. */
  databaseUrl: string
  /** The database through HAProxy alone, which connects to the primary. */
  primaryUrl: string
  /** The database with its three hosts. */
  hostsUrl: string
  /** PgBouncer's administration. */
  poolerUrl: string
  /** Patroni's REST API by member. */
  patroni: Record<string, string>
  /** Of all roles, and of Patroni's user `patroni`. */
  password: string
}

/**
 * Where the parts of a cluster on this machine listen.
 *
 * @param port the first of the 16 that it uses
 */
export function clusterAt(port: number, password: string): Cluster {
  const database = (at: number, role: string, name: string) =>
    `postgresql://${role}:${password}@127.0.0.1:${at}/${name}`
  return {
    url: `http://127.0.0.1:${port}`,
    instances: [`http://127.0.0.1:${port + 1}`, `http://127.0.0.1:${port + 2}`],
    databaseUrl: database(port + 3, 'resource', 'resource'),
    primaryUrl: database(port + 4, 'resource', 'resource'),
    hostsUrl: `postgresql://resource:${password}@${MEMBERS.map((n) => `127.0.0.1:${port + 10 + n}`).join()}/resource`,
    poolerUrl: database(port + 3, 'pgbouncer', 'pgbouncer'),
    patroni: Object.fromEntries(MEMBERS.map((n) => [`postgresql${n}`, `http://127.0.0.1:${port + 6 + n}`])),
    password,
  }
}

/** The parts in the order in which they start. */
export function partsOf(folder: string, cluster: Cluster, settings: Part['environment']): Part[] {
  const port = Number(new URL(cluster.url).port)
  const programs = join(folder, 'programs')
  const here = (at: number) => `127.0.0.1:${at}`
  const etcd = here(port + 5)
  const peer = `http://${here(port + 6)}`
  const defaults = Object.fromEntries(
    Object.entries(parseEnv(readFileSync(join(folder, 'cluster.env'), 'utf8'))).map(([name, value]) => [
      name,
      value ?? '',
    ]),
  )
  const postgres = (n: number) => here(port + 10 + n)
  const members = MEMBERS.map((n) => ({
    name: `postgresql${n}`,
    command: ['/usr/bin/python3', '-m', 'patroni', join(folder, 'patroni.yml')],
    environment: {
      PATRONI_NAME: `postgresql${n}`,
      PATRONI_ETCD3_HOSTS: etcd,
      PATRONI_RESTAPI_LISTEN: here(port + 6 + n),
      PATRONI_RESTAPI_CONNECT_ADDRESS: here(port + 6 + n),
      PATRONI_RESTAPI_PASSWORD: cluster.password,
      PATRONI_POSTGRESQL_LISTEN: postgres(n),
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: postgres(n),
      PATRONI_POSTGRESQL_DATA_DIR: join(folder, `postgresql${n}`),
      PATRONI_POSTGRESQL_BIN_DIR: dirname(programIn(programs, 'usr/lib/postgresql/*/bin/postgres')),
      PATRONI_POSTGRESQL_PGPASS: join(folder, `postgresql${n}.pgpass`),
      PATRONI_SUPERUSER_PASSWORD: cluster.password,
      PATRONI_REPLICATION_PASSWORD: cluster.password,
    },
  }))
  const instances = [1, 2].map((n) => ({
    name: `service${n}`,
    command: [process.execPath, '--max-semi-space-size=16', MAIN],
    environment: {
      NODE_ENV: 'production',
      TRUST_PROXY: 'loopback',
      ...settings,
      HOST: '127.0.0.1',
      PORT: String(port + n),
      DATABASE_URL: cluster.databaseUrl,
    },
  }))
  const all = [
    {
      name: 'etcd',
      command: [programIn(programs, 'usr/bin/etcd')],
      environment: {
        ETCD_DATA_DIR: join(folder, 'etcd'),
        ETCD_LISTEN_CLIENT_URLS: `http://${etcd}`,
        ETCD_ADVERTISE_CLIENT_URLS: `http://${etcd}`,
        ETCD_LISTEN_PEER_URLS: peer,
        ETCD_INITIAL_ADVERTISE_PEER_URLS: peer,
        ETCD_INITIAL_CLUSTER: `etcd1=${peer}`,
      },
    },
    ...members,
    {
      name: 'haproxy',
      command: [programIn(programs, 'usr/sbin/haproxy'), '-db', '-f', join(folder, 'haproxy.cfg')],
      environment: {
        SERVICE_BIND: here(port),
        SERVICE_1: here(port + 1),
        SERVICE_2: here(port + 2),
        PRIMARY_BIND: here(port + 4),
        ...Object.fromEntries(
          MEMBERS.flatMap((n) => [
            [`POSTGRESQL_${n}`, postgres(n)],
            [`PATRONI_PORT_${n}`, String(port + 6 + n)],
          ]),
        ),
      },
    },
    {
      name: 'pgbouncer',
      command: [programIn(programs, 'usr/sbin/pgbouncer'), join(folder, 'pgbouncer.ini')],
      environment: {},
    },
    ...instances,
  ]
  return all.map(({ name, command, environment }) => ({
    name,
    command: command as Part['command'],
    environment: { ...defaults, ...environment },
  }))
}

/** pgbouncer.ini with the ports and the file of this machine: PgBouncer reads no environment. */
export function localPooler(text: string, folder: string, { databaseUrl, primaryUrl }: Cluster): string {
  return text
    .replace(/port=\d+/, `port=${new URL(primaryUrl).port}`)
    .replace(/^listen_port = .*/m, `listen_port = ${new URL(databaseUrl).port}`)
    .replace(/^auth_file = .*/m, `auth_file = ${join(folder, 'userlist.txt')}`)
}
