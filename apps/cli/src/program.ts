import { API_SUBJECT, API_VERSION, contract } from '@resource/contract'
import { Argument, Command, Help, type Option } from 'commander'
import { backupCommands } from './backup.ts'
import { changeCommand } from './change.ts'
import { changesCommand } from './changes.ts'
import { completionScript, SHELLS } from './completion.ts'
import { editCommand } from './edit.ts'
import { exitCodeLines } from './exit-codes.ts'
import { exportCommand } from './export-command.ts'
import { invalid } from './failures.ts'
import { addGlobals } from './globals.ts'
import { exampleText } from './help.ts'
import { importCommand } from './import/command.ts'
import { listCommand } from './list.ts'
import { loginCommands } from './login.ts'
import { mirrorCommand } from './mirror.ts'
import { openCommand } from './open.ts'
import { isTalkative, write } from './output.ts'
import { plainText } from './plain-text.ts'
import { verbCommand } from './procedure-command.ts'
import { type Noun, nouns, type Procedure, proceduresOf } from './procedures.ts'
import { proposalCommands } from './proposals.ts'
import { undoCommand } from './undo.ts'

/** Procedures for many records. `import`, and `update` and `delete` with several ids or with filters, use them. */
const WITHOUT_COMMAND = ['createMany', 'updateMany', 'updateWhere', 'deleteWhere']

/** What commands that show records replace. */
const REPLACED: { [N in Noun]?: string[] } = { proposals: ['get', 'setStatus'] }

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
      if (!WITHOUT_COMMAND.includes(verb) && !REPLACED[noun]?.includes(verb))
        add(group, commandOf(noun, verb, procedure))
    }
    if (noun === 'proposals') for (const command of proposalCommands()) add(group, command)
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
  for (const command of [
    importCommand(),
    exportCommand(),
    changesCommand(),
    mirrorCommand(),
    openCommand(),
    ...loginCommands(),
    ...backupCommands(),
    undoCommand(),
  ]) {
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

function completionCommand(program: Command): Command {
  return new Command('completion')
    .summary('Print a completion script')
    .description('Prints the completion script of a shell.')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText('after', '\nExample:\n  $ eval "$(resource completion bash)"')
    .action((shell: (typeof SHELLS)[number]) => write(completionScript(program, shell)))
}
