import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { freePort } from './free-port.ts'
import { startGuarded, startPostgres } from './postgres.ts'

/**
 * For Vitest's `globalSetup`: as `vitest.ts`, with PgBouncer in transaction mode before the server. It is the one of the
 * system, since npm has none.
 */
export default async function setup({ provide }: TestProject) {
  const server = await startPostgres({ autovacuum: 'off' })
  // Few connections per database, so that clients share them; idle ones end, because each test file has a database.
  const bouncer = await startPgBouncer(server.port, { default_pool_size: '12', server_idle_timeout: '5' })
  provide('postgres', `postgresql://postgres@127.0.0.1:${bouncer.port}/postgres`)
  provide('unpooledPort', server.port)
  return async () => {
    await bouncer[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  }
}

/** Whether the system has PgBouncer. */
export const isPgBouncerInstalled = spawnSync('pgbouncer', ['--version']).status === 0

/**
 * Starts PgBouncer in transaction mode before a server on 127.0.0.1.
 *
 * @param settings of pgbouncer.ini
 */
export async function startPgBouncer(serverPort: number, settings: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'))
  await chmod(folder, 0o755)
  const port = await freePort()
  const users = join(folder, 'users.txt')
  await writeFile(users, '"postgres" ""\n"with_password" "secret"\n')
  const file = join(folder, 'pgbouncer.ini')
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: users,
    pool_mode: 'transaction',
    max_client_conn: 1000,
    ...settings,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`)
  await writeFile(file, `[databases]\n* = host=127.0.0.1 port=${serverPort}\n[pgbouncer]\n${lines.join('\n')}\n`)
  const start = () => startGuarded(folder, /process up/, 'pgbouncer', [file])
  let bouncer = await start()
  const end = async () => {
    const ended = once(bouncer, 'close')
    bouncer.stdin.end()
    await ended
  }
  return {
    port,
    /** Ends all connections and starts it again on the same port. */
    restart: async () => {
      await end()
      bouncer = await start()
    },
    [Symbol.asyncDispose]: async () => {
      await end()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
