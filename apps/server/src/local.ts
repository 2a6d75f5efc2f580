import { userInfo } from 'node:os'
import { type CallOptions, type Client, clientOver } from '@resource/client'
import type { AppRouter } from '@resource/contract'
import { createDatabase } from '@resource/database'
import { trpcRouter } from '@resource/openapi'
import { localLink } from '@trpc/client'
import type { Caller } from './access/caller.ts'
import { createOperations } from './operations.ts'
import { readConfig } from './process/config.ts'

export interface LocalClientOptions extends CallOptions {
  /** `file:` and a path; the file is made when absent. */
  databaseUrl: string
}

/** The client, and `close`, which lets go of the database; `await using` does too. */
export type LocalClient = Client & AsyncDisposable & { close: () => Promise<void> }

/**
 * The client of the service without HTTP: its calls go straight to the services, with the same validation and the same
 * errors. It may be used beside a running service on the same file.
 *
 * @throws Error when the database cannot be opened
 */
export async function createLocalClient({ databaseUrl, ...options }: LocalClientOptions): Promise<LocalClient> {
  const config = readConfig({ DATABASE_URL: databaseUrl })
  const database = await createDatabase(config.DATABASE_URL, { isShared: true })
  const caller: Caller = { name: 'local', detail: userOfMachine(), role: 'admin' }
  const needsCredentials = async () => (await database.read.apiKeys.count({})) > 0
  const router = trpcRouter(createOperations(database, config, { needsCredentials }))
  // Its type for clients is AppRouter, which trpcRouter cannot say.
  const transport = localLink({
    router: router as unknown as AppRouter,
    createContext: async () => ({ caller, read: database.read }),
  })
  const client = clientOver(transport, options)
  const own: Record<PropertyKey, unknown> = { close: database.close, [Symbol.asyncDispose]: database.close }
  return new Proxy(client as LocalClient, { get: (target, name) => own[name] ?? Reflect.get(target, name) })
}

function userOfMachine(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}` // In a container it may have no name.
  }
}
