import type { Change, Client, Followed } from '@resource/client'
import { contract } from '@resource/contract'
import { Command, Option } from 'commander'
import { invalid } from './failures.ts'
import { fieldsOf } from './fields.ts'
import type { Globals } from './globals.ts'
import { exampleText } from './help.ts'
import { onInterrupt } from './interrupt.ts'
import { withClient } from './open-client.ts'
import { remark, write } from './output.ts'
import { checkFields, picked } from './print-records.ts'
import type { JsonObject } from './procedures.ts'
import { cell } from './table.ts'

/** The options of the commands that read changes. */
export interface ChangesOptions extends Globals {
  follow: boolean
  after?: string
  resources?: Followed[]
}

/** What {@link changePages} reads. `isPatient`: also the first call waits for a service that cannot be reached. */
type Reading = Pick<ChangesOptions, 'after' | 'resources' | 'follow'> & { isPatient?: boolean }

interface Page {
  changes: Change[]
  /** The position after the changes. */
  cursor: string
}

const { input, output } = contract.changes.procedures.list
/** The resources whose changes can be read. */
export const followed: readonly Followed[] = input.shape.resources.unwrap().element.options
const FIELDS = Object.keys(output.shape.changes.element.shape)
const SHOWN = ['at', 'type', 'record_id', 'version']
const PAGE_SIZE = 1000
const WAIT_S = 25
const FOREVER = Number.POSITIVE_INFINITY
/** A call that follows may wait that long, and is retried for as long as it takes. */
export const PATIENT = { attemptTimeoutMs: 60_000, timeoutMs: FOREVER, retryForMs: FOREVER }

/** The command that shows the changes of records. */
export function changesCommand(): Command {
  const command = new Command('changes')
    .summary('Show the changes of records')
    .description(
      'Prints the changes of records, oldest first, each in a line, and at the end the cursor for the next time.',
    )
    .option('--follow', 'wait for further changes, until Ctrl-C', false)
    .option('--after <cursor>', 'only changes after this cursor; 0-0 for all (default: only those from now on)')
    .addOption(resourcesOption())
    .addHelpText(
      'after',
      exampleText(['changes --follow', 'changes --after 0-0 --resources items,books --json | jq .record.name']),
    )
  return command.action(async () => {
    const options = command.optsWithGlobals<ChangesOptions>()
    const { fields, json } = options
    checkFields(options, FIELDS)
    const columns = fields ?? (json ? FIELDS : SHOWN)
    let cursor = options.after
    using interrupt = onInterrupt('')
    const show = async (client: Client) => {
      for await (const page of changePages(client, options, interrupt.stop)) {
        const shown = page.changes.map((change) => picked({ ...change }, columns))
        const lineOf = json ? JSON.stringify : (change: JsonObject) => Object.values(change).map(cell).join('  ')
        await write(shown.map((change) => `${lineOf(change)}\n`).join(''))
        cursor = page.cursor
      }
    }
    await withClient(options, fieldsOf(input), show)
    if (cursor !== undefined) remark([`More: --after ${cursor}`], { cursor })
  })
}

export function resourcesOption(): Option {
  return new Option('--resources <nouns>', `only these, separated by commas: ${followed.join(', ')}`).argParser(
    (text) => {
      const given = text.split(',').map((name) => name.trim())
      const isFollowed = (name: string): name is Followed => followed.some((noun) => noun === name)
      if (given.every(isFollowed)) return given
      throw invalid(`--resources: must be of ${followed.join(', ')}, separated by commas`)
    },
  )
}

/**
 * The changes after a cursor, page by page, until `signal` aborts or, without `follow`, until the last one. The first call fails
 * soon if the service cannot be reached, unless `isPatient`.
 */
export async function* changePages(
  client: Client,
  { after, resources, follow, isPatient = false }: Reading,
  signal: AbortSignal,
): AsyncGenerator<Page, void, undefined> {
  for (let cursor = after, wait = 0; ; wait = follow ? WAIT_S : 0) {
    const input = { after: cursor, resources, limit: PAGE_SIZE, wait }
    const options = { signal, ...((isPatient || wait > 0) && PATIENT) }
    const page = await client.changes.list.query(input, options).catch((error) => {
      if (signal.aborted) return undefined
      throw error
    })
    if (page === undefined) return
    yield page as Page
    if (!follow && page.cursor === cursor) return
    cursor = page.cursor
  }
}
