import type { Field } from './fields.ts'

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/** The value that `text` stands for; text of another kind stays text, for validation to say what it must be. */
export function parseValue({ kind, list }: Field, text: string): unknown {
  const isList = list === 'always' || (list === 'also' && text.includes(','))
  return isList ? text.split(',').map((part) => parseOne(kind, part.trim())) : parseOne(kind, text)
}

function parseOne(kind: Field['kind'], text: string): unknown {
  if (kind === 'number') return numberOf(text)
  if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return kind === 'json' ? jsonOf(text) : text
}

/** The value of a cell, where nothing stands for null or, if that is not allowed, for no value. */
export function cellValue(field: Field, text: string): unknown {
  if (text !== '') return parseValue(field, text)
  if (!field.required) return undefined
  return field.nullable ? null : ''
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
