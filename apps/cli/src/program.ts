import { API_SUBJECT, API_VERSION, contract } from '@resource/contract'
import { Argument, Command, Help, Option } from 'commander'
import { backupCommands } from './backup.ts'
import { completionScript, SHELLS } from './completion.ts'
import { type ExportOptions, exportRecords } from './export.ts'
import { failureOf, invalid } from './failures.ts'
import { addGlobals, positive } from './globals.ts'
import { type ImportOptions, importFile } from './import.ts'
import { write } from './output.ts'
import { FORMATS, type Format } from './rows/row.ts'
import { nouns, proceduresOf, recordSchema } from './service.ts'
import { verbCommand } from './verb.ts'

const MOST_AT_ONCE = 1000

const HELP = `
Exit codes:
  0  done
  1  unexpected
  2  wrong usage or input
  3  not found
  4  conflict, or another version than --if-version
  5  service not available, or no answer in time
  6  imported in part: the rest is in FILE.failed.csv or .ndjson
  7  not allowed: the key is missing, wrong, expired, revoked or of a lesser role
  130  interrupted

Examples:
  $ resource items list --price-lt 30 --sort price_desc
  $ resource users get 7 --json
  $ resource import items.csv --type items
  $ resource export --type items --output items.ndjson
  $ resource backup /backups/resource.db
  $ eval "$(resource completion bash)"`

/** Every command: nouns and verbs from the contract, and what moves many records. */
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
      // Many records come from a file.
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

// Those of the program that the command has not under the same name.
function otherOptions(this: Help, command: Command): Option[] {
  const own = new Set(command.options.map(({ long }) => long))
  return Help.prototype.visibleGlobalOptions.call(this, command).filter(({ long }) => !own.has(long))
}

function importCommand(): Command {
  const command = new Command('import')
    .summary('Create records from a file')
    .description(
      'Creates records from a CSV file with a header line, NDJSON or a JSON array. What breaks off goes on with the same command; FILE.progress keeps how far it came.',
    )
    .argument('<file>', 'path, or - for stdin (which cannot go on after a break)')
    .addOption(typeOption())
    .addOption(new Option('--format <format>', "by the file's ending when absent").choices(FORMATS))
    .addOption(
      new Option('--chunk-size <rows>', 'rows per request').default(500).argParser((text) => {
        return Math.ceil(positive(text, MOST_AT_ONCE))
      }),
    )
    .option('--restart', 'begin anew, forgetting what a run that broke off has done', false)
    .addHelpText(
      'after',
      '\nExamples:\n  $ resource import users.csv --type users\n  $ gunzip -c items.ndjson.gz | resource import - --type items --format ndjson',
    )
  return command.action(async (file: string) => {
    const options = command.optsWithGlobals<ImportOptions>()
    const format = options.format ?? formatOf(file)
    if (format === undefined)
      throw invalid('--format: must be csv, ndjson or json where the name of the file does not tell')
    try {
      await importFile(file, { ...options, format })
    } catch (error) {
      throw failureOf(error, options.url)
    }
  })
}

function exportCommand(): Command {
  const command = new Command('export')
    .summary('Write all records to a file or stdout')
    .description('Writes all records that match as CSV or NDJSON, page by page.')
    .addOption(typeOption())
    .addOption(
      new Option('--format <format>', "by the file's ending when absent, else csv, with --json ndjson").choices([
        'csv',
        'ndjson',
      ]),
    )
    .option('-o, --output <file>', 'stdout when absent')
    .option('--where <field=value...>', "a filter of the noun's list", [])
    .option('--sort <order>', "an order of the noun's list")
    .option('--resume', 'go on where an export to the file broke off', false)
    .option('--restart', 'replace the file', false)
    .addHelpText(
      'after',
      '\nExamples:\n  $ resource export --type items --output items.csv\n  $ resource export --type users --where role=admin --json | jq .email',
    )
  return command.action(async () => {
    const options = command.optsWithGlobals<ExportOptions>()
    const named = formatOf(options.output ?? '')
    const format = options.format ?? (named === 'csv' || named === 'ndjson' ? named : options.json ? 'ndjson' : 'csv')
    try {
      await exportRecords({ ...options, format })
    } catch (error) {
      throw failureOf(error, options.url)
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
  return new Option('--type <noun>', 'which records')
    .choices(nouns.filter((noun) => proceduresOf(noun).createMany))
    .makeOptionMandatory()
}

function formatOf(file: string): Format | undefined {
  const ending = /\.(\w+)$/.exec(file)?.[1]?.toLowerCase()
  return ending === 'jsonl' ? 'ndjson' : FORMATS.find((format) => format === ending)
}
