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
export function editOf(
  resource: Resource,
  field: Field,
  text: string | undefined,
): { action: BulkAction } | { error: string } {
  const { name, kind } = field
  const label = field.label.toLowerCase()
  const typed = text?.trim() ?? ''
  if (kind === 'number' && /^[+-]/.test(typed)) {
    const [, sign, amount, percent] = CHANGE.exec(typed) ?? []
    if (sign === undefined)
      return { error: `${field.label} must change by an amount or a percentage, such as +5 or -10%` }
    const by = Number(sign + amount)
    const next = (row: Row) => ({ [name]: changed(resource, name, row[name] as number, by, percent === '%') })
    return {
      action: {
        label: 'Edit',
        done: 'edited',
        summary: `${label} ${typed}`,
        isFor: (row) => typeof row[name] === 'number',
        changesOf: next,
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

/** A changed number, with as many decimals as its parts have and at least those of the column. */
function changed({ recordColumns }: Resource, name: string, value: number, by: number, isPercent: boolean): number {
  const { decimals = 0 } = recordColumns.find(({ field }) => field === name) ?? {}
  const next = isPercent ? value * (1 + by / 100) : value + by
  return rounded(next, Math.max(decimals, decimalsOf(value), isPercent ? 0 : decimalsOf(by)))
}

/** Rounds as decimal numbers are rounded: 3.015 to 3.02, although the nearest binary number is below 3.015. */
function rounded(value: number, decimals: number): number {
  const factor = 10 ** decimals
  return Math.round(Number((value * factor).toPrecision(15))) / factor
}

function decimalsOf(value: number): number {
  const [digits = '', exponent = '0'] = String(value).split('e')
  return Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(exponent))
}
