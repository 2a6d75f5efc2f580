import { type Command, InvalidArgumentError, Option } from 'commander'
import { invalid } from './failures.ts'
import { type Profile, profileNamed } from './profiles.ts'

/** A second in milliseconds. */
export const SECOND_MS = 1000
const DEFAULT_URL = 'http://127.0.0.1:3000'

/** The options of every command. */
export interface Globals {
  url: string
  /** API key. */
  key?: string
  /** Name of a profile that `login` stored. */
  profile?: string
  /** The profile whose key is used, unless there is another one. */
  stored?: { name: string; profile: Profile } | undefined
  /** URL of the database to use without a running service. */
  database?: string | undefined
  json: boolean
  /** Names of the fields to show. */
  fields?: string[]
  quiet: boolean
  /** Maximum time per call, in seconds. */
  timeout: number
}

export function addGlobals(program: Command): void {
  program
    .addOption(
      new Option('--profile <name>', 'use the service and key of this profile; see login').env('RESOURCE_PROFILE'),
    )
    .addOption(
      new Option('--url <url>', `URL of the service (default: the profile's, or ${DEFAULT_URL})`)
        .env('RESOURCE_URL')
        .argParser(url),
    )
    .addOption(
      new Option('--key <key>', 'API key; prefer login or the variable, because process lists show options').env(
        'RESOURCE_KEY',
      ),
    )
    .addOption(
      new Option('--database <url>', "use the service's database (its DATABASE_URL) instead of the service").env(
        'RESOURCE_DATABASE',
      ),
    )
    .option('--json', 'print JSON; an error is one JSON object on stderr', false)
    .addOption(new Option('--fields <names>', 'show only these fields, in this order').argParser(names))
    .addOption(new Option('--jq <filter>').hideHelp().argParser(refuseJq))
    .option('-q, --quiet', 'no progress and no remarks, only results and errors', false)
    .addOption(new Option('--timeout <seconds>', 'maximum time per call').default(30).argParser(seconds))
    .hook('preAction', (_, command) => chooseService(program, command.name() === 'login'))
}

/**
 * Sets the URL and the key: options come before a named profile, then environment variables, then the current profile.
 * The key of a profile is only sent to the URL of the profile.
 *
 * @param mayBeNew whether a named profile may be missing, because the command creates it
 */
function chooseService(program: Command, mayBeNew: boolean): void {
  const given = program.opts<Partial<Globals>>()
  // An empty environment variable is like none.
  const named = given.profile || undefined
  const set = (option: keyof Globals, value: unknown) => program.setOptionValueWithSource(option, value, 'default')
  const overridesProfile = (option: 'url' | 'key') => {
    const source = program.getOptionValueSource(option)
    return Boolean(given[option]) && (source === 'cli' || (source === 'env' && named === undefined))
  }
  const stored = given.database ? undefined : profileNamed(named, mayBeNew)
  if (!overridesProfile('url')) set('url', stored?.profile.url ?? (given.url || DEFAULT_URL))
  const isOfProfile = stored !== undefined && program.opts<Globals>().url === stored.profile.url
  if (isOfProfile) set('stored', stored)
  // A named profile never uses the key of a variable.
  if (!given.key || (stored !== undefined && !mayBeNew && !overridesProfile('key'))) set('key', undefined)
  if (given.database === '') set('database', undefined)
}

/** @throws InvalidArgumentError */
export function url(text: string): string {
  if (text === '') return text
  const { protocol, origin, pathname, href } = URL.canParse(text) ? new URL(text) : new URL('about:blank')
  // Credentials, a query or a fragment would be part of every call.
  if (/^https?:$/.test(protocol) && href === origin + pathname) return href.replace(/\/+$/, '')
  throw new InvalidArgumentError(
    'Must be an http or https URL without credentials, query and fragment, such as http://127.0.0.1:3000.',
  )
}

function refuseJq(filter: string): never {
  throw invalid(`--jq no longer exists: write --json | jq '${filter}'`)
}

function names(text: string): string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.includes('')) throw new InvalidArgumentError('Must be names of fields, separated by commas.')
  return names
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
