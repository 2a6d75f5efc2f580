import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { type Client, createClient } from '@resource/client'
import { toFailure } from './failures.ts'
import type { Field } from './fields.ts'
import { type Globals, SECOND_MS } from './globals.ts'
import { keyOf } from './profiles.ts'

/** A client; disposing of it releases its resources. */
interface OpenClient extends AsyncDisposable {
  client: Client
}

/**
 * The client for `--url`, or for `--database` without a service.
 *
 * @param retryForMs for long-running commands: how long failed calls are retried
 */
export async function openClient(globals: Globals, { retryForMs }: { retryForMs?: number } = {}): Promise<OpenClient> {
  const { url, database, stored, timeout } = globals
  const timeoutMs = timeout * SECOND_MS
  // One attempt may take the whole timeout: some writes take longer than the client's default.
  const options = { timeoutMs, attemptTimeoutMs: timeoutMs, ...(retryForMs !== undefined && { retryForMs }) }
  if (database === undefined) {
    const key = globals.key ?? (stored && (await keyOf(stored.name, stored.profile)))
    // For the message of an error: whether a key was sent.
    if (key !== undefined) globals.key = key
    const client = createClient({ baseUrl: url, ...(key !== undefined && { apiKey: key }), ...options })
    return { client, [Symbol.asyncDispose]: async () => undefined }
  }
  // The server's code, loaded only for --database.
  const { createLocalClient } = await import('@resource/server/local')
  const client = await createLocalClient({ databaseUrl: database, ...options })
  return { client, [Symbol.asyncDispose]: client.close }
}

/**
 * Runs `work` with a client. Its errors name the service, and fields by their flags.
 *
 * @param isLong whether failed calls are retried for the whole timeout
 * @throws Failure
 */
export async function withClient<T>(
  globals: Globals,
  fields: Field[],
  work: (client: Client) => Promise<T>,
  isLong = false,
): Promise<T> {
  try {
    await using open = await openClient(globals, isLong ? { retryForMs: globals.timeout * SECOND_MS } : {})
    return await work(open.client)
  } catch (error) {
    throw toFailure(error, globals, fields)
  }
}

/** The URL of the service, or that of the database without secrets: what an interrupted run must find again. */
export async function targetOf({ url, database }: Globals): Promise<string> {
  if (database === undefined) return url
  if (database.startsWith('file:')) return `file:${resolve(database.slice('file:'.length))}`
  return (await import('@resource/database')).databaseLabel(database)
}

/** A hash of the caller, to whom the service scopes idempotency keys. Renewed tokens of a subject are one caller. */
export function callerOf({ key = '', database }: Globals): string {
  if (database !== undefined) return ''
  const [, claims] = key.split('.')
  return createHash('sha256')
    .update((claims && subjectOf(claims)) ?? key)
    .digest('hex')
}

function subjectOf(claims: string): string | undefined {
  try {
    return JSON.parse(Buffer.from(claims, 'base64url').toString()).sub?.toString()
  } catch {
    return undefined
  }
}
