import { withDecimalPoint } from '@resource/contract/decimal-comma'
import type { Field } from './fields.ts'

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/** Parses `text` as a value of the field. Text of the wrong kind is returned unchanged, so that validation reports it. */
export function parseValue({ kind, list }: Field, text: string): unknown {
  const isList = list === 'always' || (list === 'optional' && text.includes(','))
  return isList ? text.split(',').map((part) => parseOne(kind, part.trim())) : parseOne(kind, text)
}

function parseOne(kind: Field['kind'], text: string): unknown {
  if (kind === 'number') return numberOf(text)
  if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return kind === 'json' ? jsonOf(text) : text
}

/**
 * The value of a CSV cell. An empty cell is null, an absent value or an empty string, depending on the field.
 *
 * @param emptyIsNull whether an empty cell clears a nullable field that is not required
 */
export function cellValue(field: Field, text: string, decimalComma: boolean, emptyIsNull: boolean): unknown {
  if (text !== '') {
    if (!decimalComma || field.kind !== 'number' || field.list !== undefined) return parseValue(field, text)
    const number = withDecimalPoint(text.trim())
    return number === undefined ? text : Number(number)
  }
  if (field.required || emptyIsNull) return field.nullable ? null : field.required ? '' : undefined
  return undefined
}

function numberOf(text: string): unknown {
  return NUMBER.test(text) ? Number(text) : text
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
