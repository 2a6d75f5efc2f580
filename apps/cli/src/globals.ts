import { type Client, createClient } from '@resource/client'
import { type Command, InvalidArgumentError, Option } from 'commander'

const SECOND_MS = 1000

/** The options of every command. */
export interface Globals {
  url: string
  /** API key. */
  key?: string
  /** Of the database to work on without a service. */
  database?: string
  json: boolean
  /** Seconds a call may take. */
  timeout: number
}

export function addGlobals(program: Command): void {
  program
    .addOption(
      new Option('--url <url>', 'where the service is')
        .env('RESOURCE_URL')
        .default('http://127.0.0.1:3000')
        .argParser(url),
    )
    .addOption(
      new Option('--key <key>', 'an API key; better in the environment, where no list of processes shows it').env(
        'RESOURCE_KEY',
      ),
    )
    .addOption(
      new Option('--database <url>', "work on a service's database, its DATABASE_URL, past the service").env(
        'RESOURCE_DATABASE',
      ),
    )
    .option('--json', 'print JSON', false)
    .addOption(new Option('--timeout <seconds>', 'longest time of a call').default(30).argParser(seconds))
}

/** A client, and what lets go of what it holds. */
interface OpenClient extends AsyncDisposable {
  client: Client
}

/**
 * The client for `--url`, or straight onto `--database`.
 *
 * @param isPatient for long work: one attempt may take all the time, and a service that restarts is waited for
 */
export async function openClient(globals: Globals, { isPatient = false } = {}): Promise<OpenClient> {
  const { url, key, database, timeout } = globals
  const timeoutMs = timeout * SECOND_MS
  const options = isPatient ? { timeoutMs, attemptTimeoutMs: timeoutMs, retryForMs: timeoutMs } : { timeoutMs }
  if (database === undefined) {
    const client = createClient({ baseUrl: url, ...(key !== undefined && { apiKey: key }), ...options })
    return { client, [Symbol.asyncDispose]: async () => undefined }
  }
  // The service's own code: loaded where it is asked for alone.
  const { createLocalClient } = await import('@resource/server/local')
  const client = await createLocalClient({ databaseUrl: database, ...options })
  return { client, [Symbol.asyncDispose]: client.close }
}

function url(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text
  throw new InvalidArgumentError('It must be an address such as http://127.0.0.1:3000.')
}

function seconds(text: string): number {
  return positive(text, 86_400)
}

/** @throws InvalidArgumentError unless `text` is a number over 0 and up to `most` */
export function positive(text: string, most: number): number {
  const value = Number(text)
  if (value > 0 && value <= most) return value
  throw new InvalidArgumentError(`It must be a number over 0, up to ${most}.`)
}
