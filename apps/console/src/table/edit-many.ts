import { calculated, decimalsOf } from '@resource/contract'
import { type Field, parseInput, valueError } from '../resources/field.ts'
import type { BulkAction, Resource, Row } from '../resources/resource.ts'

const CHANGE = /^([+-]) ?(\d+(?:\.\d+)?) ?(%?)$/

/**
 * The fields that many records can be given at once: not those that identify a record, and no password. The name of a record
 * comes last.
 */
export function sharedFields({ editFields, keys, nameField }: Resource): Field[] {
  const shared = editFields.filter(({ name, kind }) => kind !== 'password' && !keys.some((key) => key.name === name))
  return shared.toSorted((a, b) => Number(a.name === nameField) - Number(b.name === nameField))
}

/**
 * The action that sets a field of many records.
 *
 * @param text a value; undefined removes the value. For a number also a change of it: `+5`, `-5`, `+10%`, `-10%`. `=-5` is the
 * number -5.
 * @returns the action, or what is wrong with the text
 */
export function editOf(field: Field, text: string | undefined): { action: BulkAction } | { error: string } {
  const { name, kind } = field
  const label = field.label.toLowerCase()
  const typed = text?.trim() ?? ''
  if (kind === 'number' && /^[+-]/.test(typed)) {
    const [, sign, amount, percent] = CHANGE.exec(typed) ?? []
    if (sign === undefined)
      return { error: `${field.label} must change by an amount or a percentage, such as +5 or -10%` }
    const by = Number(sign + amount)
    const change = percent === '%' ? { multiply: 1 + by / 100 } : { add: by }
    const next = (row: Row) => ({ [name]: calculated(row[name] as number, change, decimalsOf(field.schema)) })
    return {
      action: {
        label: 'Edit',
        done: 'edited',
        summary: `${label} ${typed}`,
        isFor: (row) => typeof row[name] === 'number',
        amounts: percent === '%' ? { multiply: { [name]: 1 + by / 100 } } : { add: { [name]: by } },
        apply: (row) => ({ ...row, ...next(row) }),
      },
    }
  }
  if (text !== undefined && typed === '') return { error: `${field.label} is required` }
  const value = text === undefined ? null : parseInput(field, kind === 'number' ? typed.replace(/^=/, '') : text)
  const error = valueError(field, value)
  if (error !== undefined) return { error }
  const changes = { [name]: value }
  return {
    action: {
      label: 'Edit',
      done: 'edited',
      summary: `${label} ${value ?? 'none'}`,
      isFor: () => true,
      changes,
      apply: (row) => ({ ...row, ...changes }),
    },
  }
}
