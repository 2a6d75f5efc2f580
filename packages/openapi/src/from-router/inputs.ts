import { z } from 'zod'
import { accepts } from '../parser.ts'
import { factsOf } from '../schema.ts'
import type { Parameter } from '../target.ts'
import { READERS } from '../text-reader.ts'

/**
 * The reader of a procedure's input. The whole body or query string goes to the procedure, whose parser handles unknown
 * fields.
 */
export function inputReader(fields: Readonly<Record<string, z.ZodType>>, inPath: readonly string[]) {
  const schema = z.object(fields)
  return (params: readonly string[], query: readonly Parameter[], body: unknown): unknown => {
    const texts = new Map<string, string[]>()
    for (const [name, text] of query) texts.set(name, [...(texts.get(name) ?? []), text])
    for (const [index, name] of inPath.entries()) texts.set(name, [params[index] as string])
    const given = [...texts].map(([name, [text, ...others]]) => {
      return [name, read(fieldOf(fields, name), others.length === 0 ? text : [text, ...others], true)]
    })
    const fromBody = Array.isArray(body) ? {} : (read(schema, body) as object | undefined)
    return { ...fromBody, ...Object.fromEntries(given) }
  }
}

function fieldOf(fields: Readonly<Record<string, z.ZodType>>, name: string): z.ZodType {
  return (Object.hasOwn(fields, name) ? fields[name] : undefined) ?? z.unknown()
}

/**
 * The value of JSON or of text for a schema: text becomes a number, boolean or list, and either a date or bigint. A value of
 * another form stays as it is, for the procedure's parser.
 */
function read(schema: z.ZodType, value: unknown, isText = false): unknown {
  const { core, type, element } = factsOf(schema)
  if (core instanceof z.ZodLazy) return read(core.unwrap() as z.ZodType, value, isText)
  if (element !== undefined) {
    const list = isText ? [value].flat() : value
    return Array.isArray(list) ? list.map((one) => read(element, one, isText)) : list
  }
  if (core instanceof z.ZodObject && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const { shape } = core as z.ZodObject<Record<string, z.ZodType>>
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, read(fieldOf(shape, name), one)]))
  }
  if (type === 'date' && (typeof value === 'string' || typeof value === 'number')) {
    const date = new Date(value)
    return Number.isNaN(date.getTime()) ? value : date
  }
  if (type === 'bigint' && typeof value !== 'object' && /^-?\d+$/.test(`${value}`)) return BigInt(`${value}`)
  if (!isText || typeof value !== 'string') return value
  if (type === 'number' || type === 'integer' || type === 'boolean') return READERS[type](value)
  if (core instanceof z.ZodUnion) {
    const readings = (core.options as z.ZodType[]).map((option) => read(option, value, true))
    return readings.find((reading) => reading !== value && accepts(core, reading)) ?? value
  }
  const isChoice = type === 'enum' || type === 'literal'
  return isChoice && accepts(core, READERS.number(value)) ? READERS.number(value) : value
}
