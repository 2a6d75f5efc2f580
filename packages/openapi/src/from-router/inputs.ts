import { z } from 'zod'
import { factsOf } from '../schema.ts'
import type { Parameter } from '../target.ts'
import { textReaderOf } from '../text-reader.ts'

/** Reads the input of a procedure from a request. */
type InputReader = (params: readonly string[], query: readonly Parameter[], body: unknown) => unknown

/**
 * The reader of a procedure's input. The whole body or query string goes to the procedure, whose parser handles unknown
 * fields.
 *
 * @param names the parameters of the path
 */
export function inputReader(
  where: string,
  fields: Readonly<Record<string, z.ZodType>>,
  names: readonly string[],
  hasBody: boolean,
): InputReader {
  const inText = Object.entries(fields).filter(([name]) => names.includes(name) || !hasBody)
  const readers = new Map(
    inText.map(([name, schema]) => {
      const inPath = names.includes(name)
      const source = `${where} reads the field "${name}" from ${inPath ? 'the path' : 'the query string'}`
      return [name, textReaderOf(asText(schema), source, !inPath)]
    }),
  )
  const read = (name: string, texts: string[]) => {
    const reader = readers.get(name)
    if (reader !== undefined && (reader.isList || texts.length === 1)) return reader.read(texts)
    return texts.length === 1 ? texts[0] : texts
  }
  const input = z.object(fields)
  return (params, query, body) => {
    const texts = new Map<string, string[]>()
    for (const [name, text] of hasBody ? [] : query) texts.set(name, [...(texts.get(name) ?? []), text])
    for (const [index, name] of names.entries()) texts.set(name, [params[index] as string])
    const given = Object.fromEntries([...texts].map(([name, texts]) => [name, read(name, texts)]))
    return revived(input, { ...(Array.isArray(body) ? {} : (body as object | undefined)), ...given })
  }
}

const FROM_TEXT = new Set(['date', 'bigint', 'transform'])

/** The schema for reading a parameter. Types that the procedure creates from text stay text. */
function asText(schema: z.ZodType): z.ZodType {
  const { type, element } = factsOf(schema)
  if (element !== undefined) return z.array(asText(element))
  return FROM_TEXT.has(type) ? z.unknown() : schema
}

/** A JSON value with the dates and bigints of a schema. Invalid ones stay as they are, for the procedure's parser. */
function revived(schema: z.ZodType, value: unknown): unknown {
  const { core, type, element } = factsOf(schema)
  if (core instanceof z.ZodLazy) return revived(core.unwrap() as z.ZodType, value)
  if (element !== undefined) return Array.isArray(value) ? value.map((one) => revived(element, one)) : value
  if (core instanceof z.ZodObject && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const { shape }: z.ZodObject = core
    const fields = Object.entries(value).map(([name, field]) => {
      return [name, Object.hasOwn(shape, name) ? revived(shape[name] as z.ZodType, field) : field]
    })
    return Object.fromEntries(fields)
  }
  if (type === 'date' && (typeof value === 'string' || typeof value === 'number')) {
    const date = new Date(value)
    return Number.isNaN(date.getTime()) ? value : date
  }
  return type === 'bigint' && typeof value !== 'object' && /^-?\d+$/.test(`${value}`) ? BigInt(`${value}`) : value
}
