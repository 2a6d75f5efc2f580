import type { Field } from './fields.ts'
import { ID, type Noun } from './procedures.ts'

/** The examples in the help of a command. */
export function exampleText(examples: string[]): string {
  return `\nExample${examples.length === 1 ? '' : 's'}:\n${examples.map((example) => `  $ resource ${example}`).join('\n')}`
}

/** Examples for the command of a procedure, made from the examples of its fields. */
export function examplesOf(noun: Noun, command: string, fields: Field[], filters: Field[]): string[] {
  const start = `${noun} ${command}`
  const id = fields.find(({ name }) => name === ID)?.example ?? '7'
  const flags = flagsOf(fields.filter(({ name }) => name !== ID))
  const shown = filters.find(({ example, name }) => example !== undefined && name !== 'q')
  const filter = shown === undefined ? undefined : `--where ${shown.name}=${quoted(shown.example)}`
  switch (command) {
    case 'list':
      return [
        `${start}${shown ? ` ${shown.flag} ${quoted(shown.example)}` : ''} --sort id_desc`,
        `${start} --all --json`,
      ]
    case 'get':
      return [`${start} ${id}`, `${start} ${id} --json`]
    case 'create':
      return [`${start}${flags}`, `${start}${flags} --json`]
    case 'update':
      return [
        `${start} ${id}${flags}`,
        `${start} ${id} 8 9${flags}`,
        ...(filter ? [`${start} ${filter}${flags} --preview`] : []),
      ]
    case 'delete':
      return [`${start} ${id}`, `${start} ${id} 8 9 --yes`, ...(filter ? [`${start} ${filter} --preview`] : [])]
    case 'summarize': {
      const by = fields.find(({ name }) => name === 'by')?.choices?.[0]
      const of = fields.find(({ name }) => name === 'of')?.choices?.[0]
      return [`${start}${by ? ` --by ${by}` : ''}${of ? ` --of ${of}` : ''}`]
    }
    default:
      return [`${start}${fields.some(({ name }) => name === ID) ? ` ${id}` : ''}${flags}`]
  }
}

/** The required flags with example values, or one that several records may share. */
function flagsOf(fields: Field[]): string {
  const required = fields.filter((field) => field.required)
  const others = fields.filter(({ example, secret }) => example && !secret)
  const optional = others.find(({ choices, nullable }) => choices || nullable) ?? others[0]
  const shown = required.length > 0 ? required : optional ? [optional] : []
  return shown.map(({ flag, example }) => ` ${flag} ${quoted(example)}`).join('')
}

function quoted(example = '…'): string {
  return /[^\w@.,:+-]/.test(example) ? `'${example}'` : example
}
