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
  const server = await startPostgres()
  const bouncer = await startPgBouncer(server.port)
  provide('postgres', `postgresql://postgres@127.0.0.1:${bouncer.port}/postgres?pgbouncer=true`)
  return async () => {
    await bouncer.stop()
    await server[Symbol.asyncDispose]()
  }
}

async function startPgBouncer(serverPort: number) {
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'))
  await chmod(folder, 0o755)
  const port = await freePort()
  const users = join(folder, 'users.txt')
  await writeFile(users, '"postgres" ""\n"with_password" "secret"\n')
  const settings = join(folder, 'pgbouncer.ini')
  await writeFile(
    settings,
    `[databases]
* = host=127.0.0.1 port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
max_client_conn = 1000
`,
  )
  const bouncer = await startGuarded(folder, /process up/, 'pgbouncer', [settings])
  return {
    port,
    stop: async () => {
      const ended = once(bouncer, 'close')
      bouncer.stdin.end()
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
