import { extname } from 'node:path'
import { FORMATS, type Format } from '@resource/import'
import { Command, Option } from 'commander'
import { type ExportOptions, exportRecords } from './export.ts'
import { invalid, toFailure } from './failures.ts'
import { formatOf, typeOption } from './files.ts'
import { exampleText } from './help.ts'
import { repeated } from './options.ts'

export function exportCommand(): Command {
  const command = new Command('export')
    .summary('Write all records to a file or stdout')
    .description('Writes all matching records as CSV, NDJSON or a JSON array, page by page.')
    .addOption(typeOption(['createMany']))
    .addOption(
      new Option('--format <format>', 'default: the file extension, else csv, or json with --json').choices(FORMATS),
    )
    .option('-o, --output <file>', 'default: stdout')
    .addOption(
      new Option('--where <field=value>', 'only records that match, as in the list command; repeatable')
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
        'export --type users --where role=admin --fields name,email',
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

/** @throws Failure for a file name with the extension of another format */
function exportFormatOf(file: string): Format | undefined {
  const format = formatOf(file)
  if (format !== undefined || extname(file) === '') return format
  throw invalid(
    `--output ${file}: export writes CSV, NDJSON or JSON; name the file .csv, .ndjson or .json, or add --format`,
  )
}
