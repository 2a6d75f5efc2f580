import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { contract } from '@resource/contract'
import { Argument, Command } from 'commander'
import { browserProgram } from './environment.ts'
import { Failure, invalid } from './failures.ts'
import type { Globals } from './globals.ts'
import { exampleText } from './help.ts'
import { answer } from './print-records.ts'
import { nouns } from './procedures.ts'

// The console has a page for each collection.
const PAGES = nouns.filter((noun) => 'collection' in contract[noun])

/** The command that shows records in the web console. */
export function openCommand(): Command {
  const command = new Command('open')
    .summary('Open the web console in the browser')
    .description(
      'Opens the web console in the browser: the overview, the table of a noun, or one record. $BROWSER names another browser.',
    )
    .addArgument(new Argument('[noun]', 'type of records').choices(PAGES))
    .argument('[id]', 'id of a record')
    .option('-n, --no-browser', 'print the address instead')
    .addHelpText('after', exampleText(['open', 'open items', 'open items 7', 'open items 7 --no-browser']))
  return command.action(async (noun: string | undefined, id: string | undefined) => {
    const options = command.optsWithGlobals<Globals & { browser: boolean }>()
    if (id !== undefined && !/^\d+$/.test(id)) throw invalid('id: must be a whole number')
    const url = [options.url, 'console', noun, id].filter((part) => part !== undefined).join('/')
    if (options.browser) await browse(url)
    await answer({ url }, options, () => (options.browser ? `Opening ${url}\n` : `${url}\n`))
  })
}

async function browse(url: string): Promise<void> {
  const program = browserProgram()
  try {
    if (program !== undefined) {
      const child = spawn(program, [url], { stdio: 'ignore', detached: true })
      await once(child, 'spawn')
      child.unref()
    } else {
      const { default: open } = await import('open')
      const child = await open(url)
      child.unref()
    }
  } catch (error) {
    throw new Failure('unexpected', `No browser could be opened (${(error as Error).message}). The address is ${url}`)
  }
}
