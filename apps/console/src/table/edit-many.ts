import { calculated, decimalsOf } from '@resource/contract'
import { askFor, type Field, isQuantity, parseInput, valueError } from '../resources/field.ts'
import type { BulkAction, Resource, Row } from '../resources/resource.ts'

const AMOUNT = /^\d+(\.\d+)?$/

/**
 * The fields that many records can be given at once: not those that identify a record, and no password. The name of a record
 * comes last.
 */
export function sharedFields({ editFields, keys, nameField }: Resource): Field[] {
  const shared = editFields.filter(({ name, kind }) => kind !== 'password' && !keys.some((key) => key.name === name))
  return shared.toSorted((a, b) => Number(a.name === nameField) - Number(b.name === nameField))
}

/** The ways to change a value. */
export const HOWS = {
  set: 'set to',
  add: 'increase by',
  subtract: 'decrease by',
  'add percent': 'increase by percent',
  'subtract percent': 'decrease by percent',
  remove: 'remove the value',
}

export type How = keyof typeof HOWS

export function howsOf(field: Field): How[] {
  const changes: How[] = isQuantity(field) ? ['add', 'subtract', 'add percent', 'subtract percent'] : []
  return ['set', ...changes, ...(field.empty === null ? (['remove'] as const) : [])]
}

/** What a text means that was typed for a number: `+10%` increases by 10 percent. `=-5` remains the number -5. */
export function readTyped(field: Field, how: How, text: string): { how: How; text: string } {
  const [, sign, amount = '', percent] = /^([+-]?)(.*?)(%?)$/.exec(text) ?? []
  if (!isQuantity(field) || (!sign && (!percent || how === 'set'))) return { how, text }
  const way = sign === '-' || (!sign && how.startsWith('subtract')) ? 'subtract' : 'add'
  return { how: percent || how.endsWith('percent') ? `${way} percent` : way, text: amount.trim() }
}

/** The action that changes a field of many records, or what is wrong with the text. */
export function editOf(field: Field, how: How, text: string): { action: BulkAction } | { error: string } {
  const { name, kind } = field
  const typed = text.trim()
  const facts = { label: 'Change', done: 'changed' }
  if (how !== 'set' && how !== 'remove') {
    if (!AMOUNT.test(typed))
      return { error: `${field.label} must change by an amount or a percentage, such as 5 or 10` }
    const by = how.startsWith('add') ? Number(typed) : -Number(typed)
    const change = how.endsWith('percent') ? { multiply: 1 + by / 100 } : { add: by }
    const next = (row: Row) => ({ [name]: calculated(row[name] as number, change, decimalsOf(field.schema)) })
    return {
      action: {
        ...facts,
        isFor: (row) => typeof row[name] === 'number',
        amounts: 'add' in change ? { add: { [name]: change.add } } : { multiply: { [name]: change.multiply } },
        apply: (row) => ({ ...row, ...next(row) }),
      },
    }
  }
  if (how === 'set' && typed === '') return { error: askFor(field) }
  const value = how === 'remove' ? null : parseInput(field, kind === 'number' ? typed.replace(/^=/, '') : text)
  const error = valueError(field, value)
  if (error !== undefined) return { error }
  const changes = { [name]: value }
  return { action: { ...facts, isFor: () => true, changes, apply: (row) => ({ ...row, ...changes }) } }
}
