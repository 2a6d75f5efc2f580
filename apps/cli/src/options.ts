import { faultsIn } from '@resource/import'
import { type Command, Option } from 'commander'
import { invalidFields } from './failures.ts'
import { type Field, parseValue } from './fields.ts'
import type { JsonObject, Procedure } from './procedures.ts'
import { promptSecret } from './prompt.ts'

/** Adds an option for each field. @returns reads the given ones as an input */
export function addFieldOptions(command: Command, fields: Field[]): () => Promise<JsonObject> {
  const options = fields.map((field) => {
    const option = optionOf(field)
    command.addOption(option)
    if (field.negatedValue !== undefined) {
      command.addOption(new Option(field.flag.replace('--', '--no-'), `set ${field.name} to ${field.negatedValue}`))
    }
    return { field, name: option.attributeName() }
  })
  return async () => {
    const input: JsonObject = {}
    for (const { field, name } of options) {
      // `--no-x` next to `--x` would make x true when neither is given.
      if (command.getOptionValueSource(name) !== 'cli') continue
      input[field.name] = await inputValue(field, command.getOptionValue(name))
    }
    return input
  }
}

/** Validates the input against the contract before anything is sent. @throws Failure that names the flags */
export function checkInput({ input: schema }: Procedure, input: JsonObject, fields: Field[]): void {
  const faults = faultsIn(schema, input)
  if (faults.length > 0) throw invalidFields(faults, fields)
}

/** `setStatus` as `set-status`. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** Collects the values of an option that may be repeated. */
export function repeated(value: string, before: string[] = []): string[] {
  return [...before, value]
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

async function inputValue(field: Field, value: unknown): Promise<unknown> {
  if (value === false) return field.negatedValue
  if (field.secret) return promptSecret(field.name)
  return typeof value === 'string' ? parseValue(field, value) : value
}
