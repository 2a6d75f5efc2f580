import { API_SUBJECT, API_VERSION, contract } from '@resource/contract'
import { Argument, Command, Help, Option } from 'commander'
import { backupCommands } from './backup.ts'
import { completionScript, SHELLS } from './completion.ts'
import { type ExportOptions, exportRecords } from './export.ts'
import { invalid, toFailure } from './failures.ts'
import { addGlobals, positive } from './globals.ts'
import { type ImportOptions, importFile } from './import.ts'
import { write } from './output.ts'
import { FORMATS, type Format } from './rows/row.ts'
import { nouns, proceduresOf, recordSchema } from './service.ts'
import { verbCommand } from './verb.ts'

const MAX_CHUNK_SIZE = 1000

const HELP = `
Exit codes:
  0  success
  1  unexpected error
  2  invalid usage or input
  3  not found
  4  conflict, or the version differs from --if-version
  5  service unavailable, or no response in time
  6  partial import: the failed rows are in FILE.failed.csv or FILE.failed.ndjson
  7  access denied: the key is missing, invalid, expired or revoked, or its role is too low
  130  interrupted

Examples:
  $ resource items list --price-lt 30 --sort price_desc
  $ resource users get 7 --json
  $ resource import items.csv --type items
  $ resource export --type items --output items.ndjson
  $ resource backup /backups/resource.db
  $ eval "$(resource completion bash)"`

/** The command-line program: one command per procedure of the contract, plus import, export, backups and completion. */
export function createProgram(): Command {
  const program = new Command('resource')
    .description(`${API_SUBJECT} of the Resource Service.`)
    .version(API_VERSION)
    .addHelpText('after', HELP)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions: otherOptions })
    .showSuggestionAfterError()
  addGlobals(program)
  for (const noun of nouns) {
    const group = program.command(noun).description(contract[noun].description.replaceAll('`', ''))
    group.summary(contract[noun].tag)
    for (const [verb, procedure] of Object.entries(proceduresOf(noun))) {
      // A procedure that creates many records takes them from a file: `import`.
      if (recordSchema(noun, procedure.input) === undefined)
        group.addCommand(inherit(verbCommand(noun, verb, procedure)))
    }
  }
  program.addCommand(inherit(importCommand()))
  program.addCommand(inherit(exportCommand()))
  for (const command of backupCommands()) program.addCommand(inherit(command))
  program.addCommand(inherit(completionCommand(program)))
  return program

  function inherit(command: Command): Command {
    return command.copyInheritedSettings(program)
  }
}

// Hides a global option that the command redefines, such as --database.
function otherOptions(this: Help, command: Command): Option[] {
  const own = new Set(command.options.map(({ long }) => long))
  return Help.prototype.visibleGlobalOptions.call(this, command).filter(({ long }) => !own.has(long))
}

function importCommand(): Command {
  const command = new Command('import')
    .summary('Create records from a file')
    .description(
      'Creates records from a CSV file with a header line, NDJSON or a JSON array. To resume an interrupted import, run the same command again. Its progress is in FILE.progress.',
    )
    .argument('<file>', 'path, or - for stdin (an import from stdin cannot be resumed)')
    .addOption(typeOption())
    .addOption(new Option('--format <format>', 'default: the file extension').choices(FORMATS))
    .addOption(
      new Option('--chunk-size <rows>', 'maximum rows per request').default(500).argParser((text) => {
        return Math.ceil(positive(text, MAX_CHUNK_SIZE))
      }),
    )
    .option('--restart', 'start over and discard the saved progress', false)
    .addHelpText(
      'after',
      '\nExamples:\n  $ resource import users.csv --type users\n  $ gunzip -c items.ndjson.gz | resource import - --type items --format ndjson',
    )
  return command.action(async (file: string) => {
    const options = command.optsWithGlobals<ImportOptions>()
    const format = options.format ?? formatOf(file)
    if (format === undefined)
      throw invalid('--format: must be csv, ndjson or json when the file name has no such extension')
    try {
      await importFile(file, { ...options, format })
    } catch (error) {
      throw toFailure(error, options)
    }
  })
}

function exportCommand(): Command {
  const command = new Command('export')
    .summary('Write all records to a file or stdout')
    .description('Writes all matching records as CSV or NDJSON, page by page.')
    .addOption(typeOption())
    .addOption(
      new Option('--format <format>', 'default: the file extension, else csv, or ndjson with --json').choices([
        'csv',
        'ndjson',
      ]),
    )
    .option('-o, --output <file>', 'default: stdout')
    .option('--where <field=value...>', 'filter, as in the list command', [])
    .option('--sort <order>', 'sort order, as in the list command')
    .option('--resume', 'continue an interrupted export to the file', false)
    .option('--restart', 'replace the file', false)
    .addHelpText(
      'after',
      '\nExamples:\n  $ resource export --type items --output items.csv\n  $ resource export --type users --where role=admin --json | jq .email',
    )
  return command.action(async () => {
    const options = command.optsWithGlobals<ExportOptions>()
    const byName = formatOf(options.output ?? '')
    const format =
      options.format ?? (byName === 'csv' || byName === 'ndjson' ? byName : options.json ? 'ndjson' : 'csv')
    try {
      await exportRecords({ ...options, format })
    } catch (error) {
      throw toFailure(error, options)
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

function typeOption(): Option {
  return new Option('--type <noun>', 'type of records')
    .choices(nouns.filter((noun) => proceduresOf(noun).createMany))
    .makeOptionMandatory()
}

function formatOf(file: string): Format | undefined {
  const extension = /\.(\w+)$/.exec(file)?.[1]?.toLowerCase()
  return extension === 'jsonl' ? 'ndjson' : FORMATS.find((format) => format === extension)
}
