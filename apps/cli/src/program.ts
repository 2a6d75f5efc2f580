import { extname } from 'node:path'
import { API_SUBJECT, API_VERSION, contract } from '@resource/contract'
import { FORMATS, type Format } from '@resource/import'
import { Argument, Command, Help, InvalidArgumentError, Option } from 'commander'
import { backupCommands } from './backup.ts'
import { changeCommand } from './change.ts'
import { completionScript, SHELLS } from './completion.ts'
import { editCommand } from './edit.ts'
import { exitCodeLines } from './exit-codes.ts'
import { type ExportOptions, exportRecords } from './export.ts'
import { invalid, toFailure } from './failures.ts'
import { addGlobals, positive } from './globals.ts'
import { exampleText } from './help.ts'
import { importFile } from './import/import.ts'
import type { GivenOptions } from './import/state.ts'
import { listCommand } from './list.ts'
import { loginCommands } from './login.ts'
import { openCommand } from './open.ts'
import { repeated } from './options.ts'
import { isTalkative, write } from './output.ts'
import { plainText } from './plain-text.ts'
import { verbCommand } from './procedure-command.ts'
import { ID, type Noun, nouns, type Procedure, proceduresOf } from './procedures.ts'

const MAX_CHUNK_SIZE = 1000
const HOUR_SECONDS = 3600
// Less than the 24 hours for which the service recognizes a repeated chunk.
const MAX_WAIT_SECONDS = 23 * HOUR_SECONDS

/** Procedures for many records. `import`, and `update` and `delete` with several ids or with filters, use them. */
const WITHOUT_COMMAND = ['createMany', 'updateMany', 'deleteMany', 'createBatch', 'getBatch', 'applyBatch']

/** The command-line program: one command per procedure of the contract, and those for files, logins and completion. */
export function createProgram(): Command {
  const program = new Command('resource')
    .description(`${API_SUBJECT} of the Resource Service.`)
    .version(API_VERSION)
    .addHelpText(
      'after',
      `\nExit codes:\n${exitCodeLines()}\n${exampleText([
        'login --url https://resource.example.com',
        'items list --price-lt 30 --sort price_desc',
        "users list --all --json | jq '.[].email'",
        'items edit 7',
        'import items.csv --type items',
        'export --type items --output items.ndjson',
        'backup /backups/resource.db',
      ])}`,
    )
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions: otherOptions, optionDescription: describeOption })
    // run.ts reports errors.
    .configureOutput({
      outputError: () => undefined,
      writeErr: (text) => void (isTalkative() && process.stderr.write(text)),
    })
    .showSuggestionAfterError()
  addGlobals(program)
  const add = (parent: Command, command: Command) => parent.addCommand(inherit(command, program))
  for (const noun of nouns) {
    const procedures = Object.entries(proceduresOf(noun))
    const isWritable = procedures.some(([, { type }]) => type === 'mutation')
    const summary = `${isWritable ? 'Manage' : 'Show'} ${noun}`
    const group = program.command(noun).summary(summary)
    group.description(plainText(contract[noun].description) || summary)
    for (const [verb, procedure] of procedures) {
      if (!WITHOUT_COMMAND.includes(verb)) add(group, commandOf(noun, verb, procedure))
    }
    const { get, update, replace } = proceduresOf(noun)
    if (get && update) add(group, editCommand(noun, update))
    if (update === undefined) {
      // Commander would suggest `create`.
      group.on('command:*', ([name]: string[]) => {
        if (name !== 'update') return (group as Command & { unknownCommand(): void }).unknownCommand()
        const instead = replace === undefined ? '' : `. Use "${noun} replace", which sets all fields`
        throw invalid(`There is no ${noun} update${instead}`)
      })
    }
  }
  for (const command of [importCommand(), exportCommand(), openCommand(), ...loginCommands(), ...backupCommands()]) {
    add(program, command)
  }
  add(program, completionCommand(program))
  add(program, helpCommand(program))
  return program
}

function helpCommand(program: Command): Command {
  return new Command('help')
    .summary('Show the help of a command')
    .argument('[command...]')
    .addHelpText('after', exampleText(['help items update']))
    .action((names: string[]) => {
      const found = names.reduce<Command | undefined>(
        (parent, name) => parent?.commands.find((command) => command.name() === name),
        program,
      )
      if (found === undefined) throw invalid(`There is no command ${names.join(' ')}`)
      found.outputHelp()
    })
}

function commandOf(noun: Noun, verb: string, procedure: Procedure): Command {
  if (verb === 'list') return listCommand(noun, procedure)
  const hasGet = proceduresOf(noun).get !== undefined
  return hasGet && (verb === 'update' || verb === 'delete')
    ? changeCommand(noun, verb, procedure)
    : verbCommand(noun, verb, procedure)
}

function inherit(command: Command, program: Command): Command {
  for (const child of command.commands) inherit(child, program)
  return command.copyInheritedSettings(program)
}

// Hides a global option that the command redefines, such as --database.
function otherOptions(this: Help, command: Command): Option[] {
  const own = new Set(command.options.map(({ long }) => long))
  return Help.prototype.visibleGlobalOptions.call(this, command).filter(({ long }) => !own.has(long))
}

// A flag that is off by default goes without saying.
function describeOption(this: Help, option: Option): string {
  return Help.prototype.optionDescription.call(this, option).replace(' (default: false)', '')
}

function importCommand(): Command {
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

function exportCommand(): Command {
  const command = new Command('export')
    .summary('Write all records to a file or stdout')
    .description('Writes all matching records as CSV, NDJSON or a JSON array, page by page.')
    .addOption(typeOption(['createMany']))
    .addOption(
      new Option('--format <format>', 'default: the file extension, else csv, or json with --json').choices(FORMATS),
    )
    .option('-o, --output <file>', 'default: stdout')
    .addOption(
      new Option('--filter <field=value>', 'only records that match, as in the list command; repeatable')
        .default([], '')
        .argParser(repeated),
    )
    .option('--search <text>', 'only records that contain every word')
    .option('--sort <order>', 'sort order, as in the list command')
    .option('--bom', 'begin CSV with a byte order mark, which Excel needs for other letters than ASCII', false)
    .option('--resume', 'continue an interrupted export to the file', false)
    .option('--restart', 'replace the file', false)
    .addHelpText(
      'after',
      exampleText([
        'export --type items --output items.csv',
        'export --type users --filter role=admin --fields name,email',
        'export --type users --format ndjson | jq .email',
        'export --type users --bom --output users.csv',
      ]),
    )
  return command.action(async () => {
    const given = command.optsWithGlobals<ExportOptions>()
    try {
      const format = given.format ?? exportFormatOf(given.output ?? '') ?? (given.json ? 'json' : 'csv')
      await exportRecords({ ...given, format })
    } catch (error) {
      throw toFailure(error, given)
    }
  })
}

function completionCommand(program: Command): Command {
  return new Command('completion')
    .summary('Print a completion script')
    .description('Prints the completion script of a shell.')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText('after', '\nExample:\n  $ eval "$(resource completion bash)"')
    .action((shell: (typeof SHELLS)[number]) => write(completionScript(program, shell)))
}

/** The types that have one of these procedures. */
function typeOption(verbs: string[]): Option {
  return new Option('--type <noun>', 'type of records')
    .choices(nouns.filter((noun) => verbs.some((verb) => proceduresOf(noun)[verb] !== undefined)))
    .makeOptionMandatory()
}

function formatOf(file: string): Format | undefined {
  const extension = /\.(\w+)$/.exec(file)?.[1]?.toLowerCase()
  return extension === 'jsonl' ? 'ndjson' : FORMATS.find((format) => format === extension)
}

/** @throws Failure for a file name with the extension of another format */
function exportFormatOf(file: string): Format | undefined {
  const format = formatOf(file)
  if (format !== undefined || extname(file) === '') return format
  throw invalid(
    `--output ${file}: export writes CSV, NDJSON or JSON; name the file .csv, .ndjson or .json, or add --format`,
  )
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
