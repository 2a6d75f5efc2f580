import { Command } from 'commander'
import { Failure } from './failures.ts'
import { type Globals, url as parseUrl, SECOND_MS } from './globals.ts'
import { targetOf, withClient } from './open-client.ts'
import { answer, answerRecord, answerRecords, checkFields } from './print-records.ts'
import { call, type JsonObject, LIMIT, nouns } from './procedures.ts'
import { profileNamed, readProfiles, removeProfile, storeProfile, useProfile } from './profiles.ts'
import { isInteractive, prompt, promptSecret } from './prompt.ts'

const DEFAULT_PROFILE = 'default'

/** The commands that store the URL and the key of a service. */
export function loginCommands(): Command[] {
  return [loginCommand(), logoutCommand(), whoamiCommand(), profileCommand()]
}

function loginCommand(): Command {
  const command = new Command('login')
    .summary('Store the URL and the API key of a service')
    .description(
      "Checks an API key and stores it as a profile, which becomes the current one. The key goes into the system's keyring; without a keyring it goes into a file that only you can read. The key is prompted for without echo, or read from the first line of stdin. An empty key is for a service without keys.",
    )
    .option('--insecure-storage', 'store the key in the file, even if there is a keyring', false)
    .addHelpText(
      'after',
      '\nExamples:\n  $ resource login\n  $ resource login --profile staging --url https://staging.example.com\n  $ printf "%s\\n" "$KEY" | resource login --url https://resource.example.com',
    )
  // Not the profile's URL: the profile may not exist yet.
  return command.action(async () => {
    const options = command.optsWithGlobals<Globals & { insecureStorage: boolean }>()
    const name = options.profile ?? readProfiles().current ?? DEFAULT_PROFILE
    const isAsked = isInteractive() && command.parent?.getOptionValueSource('url') !== 'cli'
    const url = isAsked ? parseUrl(await prompt('URL of the service', options.url)) : options.url
    const key = options.key ?? ((await promptSecret('key', 'API key (empty for none)')) || undefined)
    const login: Globals = {
      ...options,
      url,
      database: undefined,
      stored: undefined,
      ...(key !== undefined && { key }),
    }
    await checkLogin(login)
    const { storage, path } = await storeProfile(name, url, key, options.insecureStorage)
    const place = storage === 'keyring' ? "the system's keyring" : storage === 'file' ? path : undefined
    await answer(
      { profile: name, url, storage: storage ?? null },
      options,
      () => `Logged in to ${url} as profile ${name}.${place === undefined ? '' : ` The key is in ${place}.`}\n`,
    )
  })
}

function logoutCommand(): Command {
  const command = new Command('logout')
    .summary('Remove a stored profile and its key')
    .description(
      'Removes the profile of --profile, or the current one, and its key. The key itself stays valid; to revoke it, see keys revoke.',
    )
    .addHelpText('after', '\nExamples:\n  $ resource logout\n  $ resource logout --profile staging')
  return command.action(async () => {
    const options = command.optsWithGlobals<Globals>()
    const found = profileNamed(options.profile)
    if (found === undefined) throw new Failure('not_found', 'There is no current profile')
    await removeProfile(found.name)
    await answer({ profile: found.name }, options, () => `Profile ${found.name} removed\n`)
  })
}

function whoamiCommand(): Command {
  const command = new Command('whoami')
    .summary('Show the service, the profile and the role of the key')
    .description('Shows the service and the profile in use, and the name and role that the service gives to the key.')
    .addHelpText('after', '\nExamples:\n  $ resource whoami\n  $ resource whoami --profile staging --json')
  return command.action(async () => {
    const options = command.optsWithGlobals<Globals>()
    await checkLogin(options)
    const { database, stored, url } = options
    const caller = database === undefined ? await callerAt(options) : { name: 'local', role: 'admin' }
    const target = { url: await targetOf(options), profile: stored?.profile.url === url ? stored.name : null }
    await answerRecord({ ...target, ...caller }, options)
  })
}

/** @throws Failure if the service cannot be reached or refuses the key */
async function checkLogin(options: Globals): Promise<void> {
  const [noun = 'users'] = nouns
  await withClient(options, [], (client) => call(client, noun, 'list', { [LIMIT]: 1 }))
}

/** The name and role of the key; the session of the console has them. */
async function callerAt({ url, key, timeout }: Globals): Promise<JsonObject> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const answer = await fetch(`${url}/console/session`, { headers, signal: AbortSignal.timeout(timeout * SECOND_MS) })
  if (!answer.ok) throw new Failure('unexpected', `The service does not name its caller (status ${answer.status})`)
  return (await answer.json()) as JsonObject
}

function profileCommand(): Command {
  const list = new Command('list')
    .summary('List the stored profiles')
    .description('Lists the stored profiles, never their keys.')
    .addHelpText('after', '\nExamples:\n  $ resource profile list\n  $ resource profile list --json')
  list.action(async () => {
    const { current, profiles } = readProfiles()
    const rows = Object.entries(profiles).map(([name, { url, storage }]) => ({
      name,
      url,
      key: storage ?? null,
      current: name === current,
    }))
    const columns = ['name', 'url', 'key', 'current']
    const options = list.optsWithGlobals<Globals>()
    checkFields(options, columns)
    await answerRecords(rows, columns, options)
  })
  const use = new Command('use')
    .summary('Make a profile the current one')
    .description('Makes a profile the one in use without --profile.')
    .argument('<name>', 'name of the profile')
    .addHelpText('after', '\nExample:\n  $ resource profile use staging')
  use.action(async (name: string) => {
    const found = profileNamed(name)
    useProfile(name)
    await answer(
      { profile: name, url: found?.profile.url },
      use.optsWithGlobals<Globals>(),
      () => `Now using ${name}\n`,
    )
  })
  return new Command('profile')
    .summary('List and choose stored profiles')
    .description('Stored services and keys. login creates a profile, logout removes it.')
    .addCommand(list)
    .addCommand(use)
}
