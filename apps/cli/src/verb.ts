import { Command, Option } from 'commander'
import { tableColumns } from './columns.ts'
import { EXIT, Failure, fieldErrorLines, toFailure } from './failures.ts'
import { type Field, fieldsOf } from './fields.ts'
import { type Globals, openClient } from './globals.ts'
import { log, record, table, write } from './output.ts'
import { confirm, promptSecret } from './prompt.ts'
import { call, ID, type JsonObject, type Noun, type PageInfo, type Procedure } from './service.ts'
import { parseValue } from './values.ts'

/** The command of a procedure: `users set-status <id> --status <status>`. */
export function verbCommand(noun: Noun, verb: string, procedure: Procedure): Command {
  const fields = fieldsOf(procedure.input)
  const { summary = '', description = '' } = procedure.meta.openapi
  const name = kebab(verb)
  const command = new Command(name).summary(summary).description(`${summary}. ${description}`.replaceAll('`', ''))
  const hasId = fields.some((field) => field.name === ID)
  if (hasId) command.argument(`<${ID}>`)
  const options = new Map<Field, Option>()
  for (const field of fields.filter((field) => field.name !== ID)) {
    const option = optionOf(field)
    options.set(field, option)
    command.addOption(option)
    if (field.negatedValue !== undefined) {
      command.addOption(new Option(field.flag.replace('--', '--no-'), `set ${field.name} to ${field.negatedValue}`))
    }
  }
  // Commands that remove more than one record ask for confirmation.
  const isBulkDelete = verb.startsWith('delete') && !hasId
  if (isBulkDelete) command.option('--yes', 'skip the confirmation')
  command.addHelpText('after', `\nExample:\n  $ ${exampleOf(noun, name, fields, isBulkDelete)}`)

  return command.action(async (...args: unknown[]) => {
    const globals = command.optsWithGlobals<Globals & { yes?: boolean }>()
    const input: JsonObject = hasId ? { [ID]: parseValue(fieldNamed(fields, ID), String(args[0])) } : {}
    const given = command.opts()
    for (const [field, option] of options) {
      // `--no-x` next to `--x` would make x true when neither is given.
      const value = command.getOptionValueSource(attributeOf(option)) === 'cli' ? given[attributeOf(option)] : undefined
      if (value !== undefined) input[field.name] = await inputValue(field, value)
    }
    check(procedure, input, fields)
    if (isBulkDelete && globals.yes !== true && !(await confirm(`${summary}: ${JSON.stringify(input)}?`))) {
      throw new Failure(EXIT.interrupted, 'Nothing was removed.')
    }
    try {
      await using open = await openClient(globals)
      await show(noun, await call(open.client, noun, verb, input), globals.json)
    } catch (error) {
      throw toFailure(error, globals, fields)
    }
  })
}

/** `setStatus` as `set-status`. */
function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function optionOf(field: Field): Option {
  const text = `${field.required ? 'required. ' : ''}${field.description}`
  if (field.secret)
    return new Option(field.flag, `prompted for without echo, or read from the first line of stdin. ${text}`)
  if (field.kind === 'boolean' && field.list === undefined) {
    return new Option(`${field.flag} [true|false]`, text).choices(['true', 'false']).preset('true')
  }
  const values = field.list === undefined ? field.kind : `${field.kind}s`
  const option = new Option(`${field.flag} <${field.choices ? field.name : values}>`, text)
  if (field.choices) return option.choices(field.choices)
  if (field.known) option.argChoices = field.known
  return option
}

function attributeOf(option: Option): string {
  return option.attributeName()
}

async function inputValue(field: Field, value: unknown): Promise<unknown> {
  if (value === false) return field.negatedValue
  if (field.secret) return promptSecret(field.name)
  return typeof value === 'string' ? parseValue(field, value) : value
}

/** Validates the input against the contract before anything is sent. */
function check({ input: schema }: Procedure, input: JsonObject, fields: Field[]): void {
  const parsed = schema.safeParse(input)
  if (parsed.success) return
  const errors = new Map<string, string>()
  for (const { path, message } of parsed.error.issues) {
    const field = String(path[0] ?? '')
    if (!errors.has(field)) errors.set(field, field !== '' && input[field] === undefined ? 'is required' : message)
  }
  const lines = [...errors].map(([field, message]) => ({ field, message }))
  throw new Failure(EXIT.invalid, fieldErrorLines(lines, fields))
}

async function show(noun: Noun, output: JsonObject, json: boolean): Promise<void> {
  const records = output[noun]
  if (!Array.isArray(records)) {
    const { message, ...rest } = output
    const isMessage = typeof message === 'string' && !(ID in rest)
    return write(json ? `${JSON.stringify(output)}\n` : isMessage ? `${message}\n` : record(output))
  }
  await write(json ? `${JSON.stringify(records)}\n` : table(tableColumns(noun), records))
  const { page, next, total } = output as unknown as PageInfo
  if (total !== undefined) log(`${total} in total`)
  if (next !== null) log(page === undefined ? `More: --after ${next}` : `More: --page ${page + 1}`)
}

function fieldNamed(fields: Field[], name: string): Field {
  return fields.find((field) => field.name === name) as Field
}

function exampleOf(noun: Noun, name: string, fields: Field[], isBulkDelete: boolean): string {
  const required = fields.filter((field) => field.required && field.name !== ID)
  const shown = required.length > 0 ? required : fields.filter(({ example, secret }) => example && !secret).slice(0, 1)
  const needsFlags = !['get', 'delete'].includes(name)
  const flags = needsFlags ? shown.filter((field) => field.name !== ID) : []
  const id = fields.find((field) => field.name === ID)?.example
  const words = flags.map(
    ({ flag, example = '…' }) => `${flag} ${/[^\w@.,-]/.test(example) ? `'${example}'` : example}`,
  )
  return ['resource', noun, name, ...(id ? [id] : []), ...words, ...(isBulkDelete ? ['--yes'] : [])].join(' ')
}
