import { userInfo } from 'node:os'
import { type Client, withActions } from '@resource/client'
import type { Contract } from '@resource/contract'
import { createDatabase } from '@resource/database'
import { trpcRouter } from '@resource/openapi'
import { answeredError, type ClientCallOptions, clientOver, type Transport } from '@resource/openapi/client'
import type { ErrorShape } from '@resource/openapi/contract'
import { callTRPCProcedure, getTRPCErrorFromUnknown, getTRPCErrorShape } from '@trpc/server'
import type { Caller } from './access/caller.ts'
import { Followers } from './changes/followers.ts'
import { Tailer } from './changes/tailer.ts'
import { newRequestId, readGroup } from './http/request-id.ts'
import { createOperations } from './operations.ts'
import { readLocalConfig } from './process/config.ts'

export interface LocalClientOptions extends ClientCallOptions<Contract> {
  /** `file:` followed by a path. The file is created if it does not exist. */
  databaseUrl: string
}

/** The client, with a `close` method that closes the database. `await using` closes it as well. */
export type LocalClient = Client & AsyncDisposable & { close: () => Promise<void> }

/**
 * Creates a client that calls the services directly, without HTTP, with the same validation and the same errors. It can
 * share its database file with a running service.
 *
 * @throws Error if the database cannot be opened
 */
export async function createLocalClient({ databaseUrl, ...options }: LocalClientOptions): Promise<LocalClient> {
  const config = readLocalConfig(databaseUrl)
  const database = await createDatabase(config.DATABASE_URL, {
    isShared: true,
    allowUntested: config.ALLOW_UNTESTED_DATABASE,
  })
  const caller: Caller = { name: 'local', detail: osUser(), role: 'admin' }
  const needsCredentials = async () => (await database.read.apiKeys.count({})) > 0
  const followers = new Followers(new Tailer(database))
  const router = trpcRouter(createOperations(database, config, { followers, needsCredentials, areScoped: false }))
  const common = { caller, isStrict: true, read: database.read }
  const transport: Transport = {
    send: (calls, _credentials, signal) =>
      Promise.all(
        calls.map(async ({ type, path, json, ifEffect, group }, batchIndex) => {
          let requestId = newRequestId()
          const onReplay = (first: string | null) => {
            requestId = first ?? requestId
          }
          const input = json === undefined ? undefined : JSON.parse(json)
          try {
            const ctx = { ...common, requestId, ifEffect, group: readGroup(group), onReplay }
            const getRawInput = async () => input
            const call = callTRPCProcedure({ router, path, getRawInput, ctx, type, signal, batchIndex })
            const data = await call
            return { data, requestId }
          } catch (cause) {
            const error = getTRPCErrorFromUnknown(cause)
            const { _config: config } = router._def
            // Without the id of the request, which no log has.
            const shape: ErrorShape = getTRPCErrorShape({ config, error, type, path, input, ctx: common })
            return { error: answeredError({ status: shape.data.httpStatus, message: shape.message, shape, cause }) }
          }
        }),
      ),
  }
  // There is no HTTP request to save, and each call of a batch would wait for the others.
  const client = withActions(clientOver<Contract>(transport, { ...options, batch: false }))
  const close = () => {
    followers.close()
    followers.tailer.close()
    return database.close()
  }
  const own: Record<PropertyKey, unknown> = { close, [Symbol.asyncDispose]: close }
  return new Proxy(client as LocalClient, { get: (target, name) => own[name] ?? Reflect.get(target, name) })
}

function osUser(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.()}` // In a container the user may have no name.
  }
}
