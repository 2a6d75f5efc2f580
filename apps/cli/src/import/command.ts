import { FORMATS } from '@resource/import'
import { Command, InvalidArgumentError, Option } from 'commander'
import { invalid, toFailure } from '../failures.ts'
import { formatOf, typeOption } from '../files.ts'
import { positive } from '../globals.ts'
import { exampleText } from '../help.ts'
import { ID } from '../procedures.ts'
import { importFile } from './import.ts'
import type { GivenOptions } from './state.ts'

const MAX_CHUNK_SIZE = 1000
const HOUR_SECONDS = 3600
// Less than the 24 hours for which the service recognizes a repeated chunk.
const MAX_WAIT_SECONDS = 23 * HOUR_SECONDS

export function importCommand(): Command {
  const command = new Command('import')
    .summary('Create or update records from a file')
    .description(
      'Creates records from a CSV file with a header line, NDJSON or a JSON array; with --update or --upsert it changes existing ones. A file with ids, such as an export, requires one of these options or --create. To resume an interrupted import, run the same command again. Its progress is in FILE.progress, rows that were not imported are in FILE.remaining.csv or FILE.remaining.ndjson. Guesses about a CSV file are shown and must be confirmed.',
    )
    .argument('<file>', 'path, or - for stdin (an import from stdin cannot be resumed)')
    .addOption(typeOption(['createMany', 'updateMany']))
    .addOption(new Option('--format <format>', 'default: the file extension').choices(FORMATS))
    .addOption(new Option('--update', 'update the records that have the ids of the rows').default(false))
    .addOption(
      new Option('--upsert <key>', 'update the records that have the key of the rows, and create the others').conflicts(
        'update',
      ),
    )
    .addOption(
      new Option('--create', 'create new records, even if the rows have ids')
        .default(false)
        .conflicts(['update', 'upsert']),
    )
    .option('--clear-empty', 'an empty CSV cell clears its field (default: it changes nothing)', false)
    .addOption(
      new Option('--map <column=field>', 'field of a CSV column; repeatable. COLUMN= leaves a column out').argParser(
        mapped,
      ),
    )
    .option('--delimiter <character>', 'separator of CSV cells (default: guessed)', delimiter)
    .addOption(
      new Option('--decimal-comma [true|false]', 'numbers such as 1.024,50 (default: guessed)')
        .choices(['true', 'false'])
        .preset('true'),
    )
    .option('--yes', 'accept the guesses', false)
    .option('--again', 'import a file that was imported before', false)
    .addOption(
      new Option('--wait <seconds>', 'how long to wait for an unreachable service')
        .default(HOUR_SECONDS)
        .argParser((text) => (text === '0' ? 0 : positive(text, MAX_WAIT_SECONDS))),
    )
    .addOption(
      new Option('--chunk-size <rows>', 'maximum rows per request').default(500).argParser((text) => {
        return Math.ceil(positive(text, MAX_CHUNK_SIZE))
      }),
    )
    .option('--restart', 'start over and discard the saved progress', false)
    .addHelpText(
      'after',
      exampleText([
        'import users.csv --type users',
        'import export.csv --type users --update',
        "import prices.csv --type items --update --map 'Preis=price' --delimiter ';'",
        'import users.csv --type users --upsert email',
        'import - --type items --format ndjson < items.ndjson',
      ]),
    )
  return command.action(async (file: string) => {
    const given = command.optsWithGlobals<
      GivenOptions & { update: boolean; create: boolean; upsert?: string; decimalComma?: string }
    >()
    const format = given.format ?? formatOf(file)
    if (format === undefined)
      throw invalid('--format: must be csv, ndjson or json when the file name has no such extension')
    const { update, upsert, create, decimalComma } = given
    const action = upsert !== undefined ? 'upsert' : update ? 'update' : create ? 'create' : undefined
    const options: GivenOptions = {
      ...given,
      format,
      mode: action && { action, key: upsert ?? ID },
      decimalComma: decimalComma === undefined ? undefined : decimalComma === 'true',
    }
    try {
      await importFile(file, options)
    } catch (error) {
      throw toFailure(error, options)
    }
  })
}

function mapped(text: string, before: Record<string, string> = {}): Record<string, string> {
  const cut = text.lastIndexOf('=')
  if (cut < 0) throw new InvalidArgumentError('Must be COLUMN=FIELD.')
  return { ...before, [text.slice(0, cut)]: text.slice(cut + 1) }
}

function delimiter(text: string): string {
  if (text === 'tab') return '\t'
  if (/^[^"\r\n]$/u.test(text)) return text
  throw new InvalidArgumentError('Must be one character other than a quote, or tab.')
}
