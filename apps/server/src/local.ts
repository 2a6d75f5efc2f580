import { userInfo } from 'node:os'
import type { Client } from '@resource/client'
import type { Contract } from '@resource/contract'
import { createDatabase } from '@resource/database'
import { trpcRouter } from '@resource/openapi'
import { answeredError, type ClientCallOptions, clientOver, type Transport } from '@resource/openapi/client'
import type { ErrorShape } from '@resource/openapi/contract'
import { callTRPCProcedure, getTRPCErrorFromUnknown, getTRPCErrorShape } from '@trpc/server'
import type { Caller } from './access/caller.ts'
import { createOperations } from './operations.ts'
import { readConfig } from './process/config.ts'

export interface LocalClientOptions extends ClientCallOptions<Contract> {
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
  const ctx = { caller, read: database.read }
  const transport: Transport = {
    send: (calls, _credentials, signal) =>
      Promise.all(
        calls.map(async ({ type, path, json }, batchIndex) => {
          const input = json === undefined ? undefined : JSON.parse(json)
          try {
            const getRawInput = async () => input
            return { data: await callTRPCProcedure({ router, path, getRawInput, ctx, type, signal, batchIndex }) }
          } catch (cause) {
            const error = getTRPCErrorFromUnknown(cause)
            const { _config: config } = router._def
            const shape: ErrorShape = getTRPCErrorShape({ config, error, type, path, input, ctx })
            return { error: answeredError({ status: shape.data.httpStatus, message: shape.message, shape, cause }) }
          }
        }),
      ),
  }
  // Without a request to spare, a call of a batch would only wait for the others.
  const client = clientOver<Contract>(transport, { ...options, batch: false })
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
