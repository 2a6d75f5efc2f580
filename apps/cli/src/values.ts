import type { Field } from './fields.ts'

const DECIMAL_COMMA = /^[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$/
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
    const isComma = decimalComma && field.kind === 'number' && field.list === undefined && isDecimalComma(text.trim())
    return parseValue(field, isComma ? text.trim().replaceAll('.', '').replace(',', '.') : text)
  }
  if (field.required || emptyIsNull) return field.nullable ? null : field.required ? '' : undefined
  return undefined
}

/** `24.5` */
export function isNumber(text: string): boolean {
  return NUMBER.test(text)
}

/** `24,5` or `1.024,5`; also `24` and `1.024`, which are numbers of both kinds. */
export function isDecimalComma(text: string): boolean {
  return DECIMAL_COMMA.test(text)
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
