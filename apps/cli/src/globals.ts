import { type Client, createClient } from '@resource/client'
import { type Command, InvalidArgumentError, Option } from 'commander'

const SECOND_MS = 1000

/** The options of every command. */
export interface Globals {
  url: string
  /** API key. */
  key?: string
  /** URL of the database to use without a running service. */
  database?: string
  json: boolean
  /** Maximum time per call, in seconds. */
  timeout: number
}

export function addGlobals(program: Command): void {
  program
    .addOption(
      new Option('--url <url>', 'URL of the service')
        .env('RESOURCE_URL')
        .default('http://127.0.0.1:3000')
        .argParser(url),
    )
    .addOption(
      new Option('--key <key>', 'API key; prefer the environment variable, because process lists show options').env(
        'RESOURCE_KEY',
      ),
    )
    .addOption(
      new Option('--database <url>', "use the service's database (its DATABASE_URL) instead of the service").env(
        'RESOURCE_DATABASE',
      ),
    )
    .option('--json', 'print JSON', false)
    .addOption(new Option('--timeout <seconds>', 'maximum time per call').default(30).argParser(seconds))
}

/** A client; disposing of it releases its resources. */
interface OpenClient extends AsyncDisposable {
  client: Client
}

/**
 * The client for `--url`, or for `--database` without a service.
 *
 * @param isLongRunning whether one attempt may take the whole timeout, and calls are retried while the service restarts
 */
export async function openClient(globals: Globals, { isLongRunning = false } = {}): Promise<OpenClient> {
  const { url, key, database, timeout } = globals
  const timeoutMs = timeout * SECOND_MS
  const options = isLongRunning ? { timeoutMs, attemptTimeoutMs: timeoutMs, retryForMs: timeoutMs } : { timeoutMs }
  if (database === undefined) {
    const client = createClient({ baseUrl: url, ...(key !== undefined && { apiKey: key }), ...options })
    return { client, [Symbol.asyncDispose]: async () => undefined }
  }
  // The server's code, loaded only for --database.
  const { createLocalClient } = await import('@resource/server/local')
  const client = await createLocalClient({ databaseUrl: database, ...options })
  return { client, [Symbol.asyncDispose]: client.close }
}

function url(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text
  throw new InvalidArgumentError('Must be a URL such as http://127.0.0.1:3000.')
}

function seconds(text: string): number {
  return positive(text, 86_400)
}

/** @throws InvalidArgumentError unless `text` is a number greater than 0 and at most `max` */
export function positive(text: string, max: number): number {
  const value = Number(text)
  if (value > 0 && value <= max) return value
  throw new InvalidArgumentError(`Must be a number greater than 0 and at most ${max}.`)
}
