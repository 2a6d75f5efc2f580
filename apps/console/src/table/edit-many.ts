import { type Field, parseInput, valueError } from '../resources/field.ts'
import type { BulkAction, Resource, Row } from '../resources/resource.ts'

const CHANGE = /^([+-]) ?(\d+(?:\.\d+)?) ?(%?)$/

/**
 * The fields that many records can be given at once, the likeliest first: not those that identify a record, and no password.
 * The name of a record comes last.
 */
export function sharedFields({ editFields, keys, nameField }: Resource): Field[] {
  const shared = editFields.filter(({ name, kind }) => kind !== 'password' && !keys.some((key) => key.name === name))
  return shared.toSorted((a, b) => Number(a.name === nameField) - Number(b.name === nameField))
}

/**
 * The action that sets a field of many records.
 *
 * @param text a value, or for a number also a change of it: `+5`, `-5`, `+10%`, `-10%`. `=-5` is the number -5.
 * @returns the action, or what is wrong with the text
 */
export function editOf(resource: Resource, field: Field, text: string): { action: BulkAction } | { error: string } {
  const typed = text.trim()
  const [, sign, amount, percent] = (field.kind === 'number' && CHANGE.exec(typed)) || []
  const common = { label: 'Edit', done: 'edited' }
  if (sign !== undefined) {
    const by = Number(sign + amount)
    const next = (row: Row) => changed(resource, field, row[field.name] as number, by, percent === '%')
    return {
      action: {
        ...common,
        summary: `${field.label.toLowerCase()} ${typed}`,
        isFor: (row) => typeof row[field.name] === 'number',
        changesOf: (row) => ({ [field.name]: next(row) }),
        apply: (row) => ({ ...row, [field.name]: next(row) }),
      },
    }
  }
  const value = parseInput(field, field.kind === 'number' ? typed.replace(/^=/, '') : text)
  const error = valueError(field, value)
  if (error !== undefined || value === undefined) return { error: error ?? `${field.label} is required` }
  const changes = { [field.name]: value }
  return {
    action: {
      ...common,
      summary: `${field.label.toLowerCase()} ${value ?? 'none'}`,
      isFor: () => true,
      changes,
      apply: (row) => ({ ...row, ...changes }),
    },
  }
}

/** A changed number, with as many decimals as its parts have and at least those of the column. */
function changed({ recordColumns }: Resource, { name }: Field, value: number, by: number, isPercent: boolean): number {
  const { decimals = 0 } = recordColumns.find(({ field }) => field === name) ?? {}
  const most = Math.max(decimals, decimalsOf(value), isPercent ? 0 : decimalsOf(by))
  return Number((isPercent ? value * (1 + by / 100) : value + by).toFixed(most))
}

function decimalsOf(value: number): number {
  return String(value).split('.')[1]?.length ?? 0
}
