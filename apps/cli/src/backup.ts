import type { BackupRefused, CopyOptions, Inspection } from '@resource/database/backup'
import { Command, Option } from 'commander'
import type { Outcome } from './exit-codes.ts'
import { Failure } from './failures.ts'
import type { Globals } from './globals.ts'
import { onInterrupt } from './interrupt.ts'
import { answer } from './print-records.ts'
import { progress } from './progress.ts'
import { details } from './table.ts'

const DATABASE = 'file:./data/resource.db'

interface Options extends Globals {
  database: string
  replace: boolean
}

const OUTCOMES: Record<BackupRefused['fault'], Outcome> = {
  unsupported: 'invalid',
  missing: 'not_found',
  exists: 'invalid',
  'in use': 'conflict',
  unusable: 'unusable',
}

/** The commands that work on the database file, without the service. */
export function backupCommands(): Command[] {
  return [backupCommand(), restoreCommand(), checkCommand()]
}

function backupCommand(): Command {
  const command = new Command('backup')
    .summary('Back up the database while the service runs')
    .description('Checks a SQLite database and copies it, even while the service writes to it.')
    .argument('<file>', 'path of the copy')
    .addOption(databaseOption())
    .option('--replace', 'replace the file', false)
    .addHelpText('after', '\nExample:\n  $ resource backup "/backups/resource-$(date +%F).db"')
  return command.action(async (file: string) => {
    const options = optionsOf(command)
    await withBackupTools(async ({ backUp }) => {
      const inspection = await runCopy((copy) => backUp(options.database, file, copy), options)
      await report(options, inspection, { file })
    })
  })
}

function restoreCommand(): Command {
  const command = new Command('restore')
    .summary('Restore the database from a backup')
    .description('Checks a backup and restores it as the SQLite database of a stopped service.')
    .argument('<file>', 'the backup')
    .addOption(databaseOption())
    .option('--replace', 'replace the existing database', false)
    .addHelpText('after', '\nExample:\n  $ resource restore /backups/resource-2026-11-21.db --replace')
  return command.action(async (file: string) => {
    const options = optionsOf(command)
    await withBackupTools(async ({ restore }) => {
      const inspection = await runCopy((copy) => restore(file, options.database, copy), options)
      await report(options, inspection, { database: options.database })
    })
  })
}

function checkCommand(): Command {
  const command = new Command('check')
    .summary('Check the database for damage')
    .description('Reads a whole SQLite database, even while the service runs, and reports any damage.')
    .addOption(databaseOption())
    .addHelpText('after', '\nExample:\n  $ resource check --database file:/backups/resource-2026-11-21.db')
  return command.action(async () => {
    const options = optionsOf(command)
    await withBackupTools(async ({ check }) => {
      const inspection = check(options.database)
      await report(options, inspection, { database: options.database })
      const errors = [...inspection.damage, ...(inspection.mismatch === null ? [] : [inspection.mismatch])]
      if (errors.length > 0) throw new Failure('unusable', errors.join('\n'))
    })
  })
}

// RESOURCE_DATABASE is for the commands that can use a service instead.
function optionsOf(command: Command): Options {
  const options = command.optsWithGlobals<Options>()
  // Commander gives an argument to the global option of the same name.
  const isArgument = command.getOptionValueSourceWithGlobals('database') === 'cli'
  return isArgument ? options : { ...options, database: command.opts<Options>().database }
}

function databaseOption(): Option {
  return new Option('--database <url>', "the service's DATABASE_URL: file: and a path")
    .env('DATABASE_URL')
    .default(DATABASE)
    .argParser((text) => text || DATABASE)
}

// Loaded only for these commands, because the driver takes time and memory.
async function withBackupTools(
  work: (tools: typeof import('@resource/database/backup')) => Promise<void>,
): Promise<void> {
  const tools = await import('@resource/database/backup')
  try {
    await work(tools)
  } catch (error) {
    if (error instanceof tools.BackupRefused) throw new Failure(OUTCOMES[error.fault], error.message)
    throw error
  }
}

async function runCopy(copy: (options: CopyOptions) => Promise<Inspection>, { replace }: Options): Promise<Inspection> {
  using interrupt = onInterrupt()
  let bar: ReturnType<typeof progress> | undefined
  let pages = 0
  const inspection = await copy({
    replace,
    onProgress(done, total) {
      if (interrupt.requested) throw new Failure('interrupted', 'Stopped; nothing was changed.')
      bar ??= progress('pages copied:', total)
      bar.update(done)
      pages = total
    },
  })
  bar?.end(pages)
  return inspection
}

async function report(
  { json }: Options,
  { damage, mismatch, pending, rows }: Inspection,
  source: Record<string, string>,
): Promise<void> {
  const sound = damage.length === 0 && mismatch === null ? 'yes' : 'no'
  await answer({ ...source, damage, mismatch, pending, rows }, { json }, () =>
    details({ ...source, sound, 'pending migrations': pending.join(', ') || 'none', ...rows }),
  )
}
