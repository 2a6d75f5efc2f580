import { type Client, createClient } from '@resource/client'
import { type Command, InvalidArgumentError, Option } from 'commander'

const SECOND_MS = 1000

/** The options of every command. */
export interface Globals {
  url: string
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
    .option('--json', 'print JSON', false)
    .addOption(new Option('--timeout <seconds>', 'longest time of a call').default(30).argParser(seconds))
}

/** The client for interactive calls. */
export function clientOf({ url, timeout }: Globals): Client {
  return createClient({ baseUrl: url, timeoutMs: timeout * SECOND_MS })
}

/** The client for long work: one attempt may take all the time, and a service that restarts is waited for. */
export function patientClientOf({ url, timeout }: Globals): Client {
  const ms = timeout * SECOND_MS
  return createClient({ baseUrl: url, timeoutMs: ms, attemptTimeoutMs: ms, retryForMs: ms })
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
