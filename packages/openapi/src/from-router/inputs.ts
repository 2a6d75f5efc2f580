import { z } from 'zod'
import type { Parameter } from '../request.ts'
import { factsOf } from '../schema.ts'
import { type TextReader, textReaderOf } from '../text-reader.ts'

type Values = Record<string, unknown>

/** Reads the input of a procedure from a request. */
export type InputReader = (params: readonly string[], query: readonly Parameter[], body: unknown) => Values

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
  const readers = new Map<string, TextReader>()
  for (const [name, schema] of Object.entries(fields)) {
    const inPath = names.includes(name)
    if (!inPath && hasBody) continue
    const from = inPath ? 'the path' : 'the query string'
    readers.set(name, textReaderOf(asText(schema), `${where} reads the field "${name}" from ${from}`, !inPath))
  }
  const revive = reviverOf(z.object(fields))
  return (params, query, body) => {
    const texts = new Map<string, string[]>()
    for (const [name, text] of hasBody ? [] : query) texts.set(name, [...(texts.get(name) ?? []), text])
    const given = Object.fromEntries(
      [...texts].map(([name, texts]) => {
        const reader = readers.get(name)
        const isRead = reader !== undefined && (reader.isList || texts.length === 1)
        return [name, isRead ? reader.read(texts) : texts.length === 1 ? texts[0] : texts]
      }),
    )
    const inPath = Object.fromEntries(
      names.map((name, index) => [name, readers.get(name)?.read([params[index] as string])]),
    )
    const input = { ...(Array.isArray(body) ? {} : (body as object | undefined)), ...given, ...inPath }
    return revive === undefined ? input : (revive(input) as Values)
  }
}

/** The schema for reading a parameter. Types that the procedure creates from text stay text. */
function asText(schema: z.ZodType): z.ZodType {
  const { type, element } = factsOf(schema)
  if (element !== undefined) return z.array(asText(element))
  return FROM_TEXT.has(type) ? z.unknown() : schema
}

const FROM_TEXT = new Set(['date', 'bigint', 'transform'])

type Reviver = (value: unknown) => unknown

const REVIVERS: Record<string, Reviver> = {
  date: (value) => {
    if (typeof value !== 'string' && typeof value !== 'number') return value
    const date = new Date(value)
    return Number.isNaN(date.getTime()) ? value : date
  },
  bigint: (value) => (/^-?\d+$/.test(String(value)) && typeof value !== 'object' ? BigInt(String(value)) : value),
}

function reviverOf(schema: z.ZodType): Reviver | undefined {
  const { core, type, element } = factsOf(schema)
  if (core instanceof z.ZodLazy) {
    let made: Reviver | undefined
    // Resolved on first use, because the schema may be recursive.
    return (value) => {
      made ??= reviverOf(core.unwrap() as z.ZodType) ?? ((same) => same)
      return made(value)
    }
  }
  if (element !== undefined) {
    const revive = reviverOf(element)
    return revive && ((value) => (Array.isArray(value) ? value.map(revive) : value))
  }
  if (!(core instanceof z.ZodObject)) return REVIVERS[type]
  const fields = Object.entries(core.shape).flatMap(([name, field]) => {
    const revive = reviverOf(field as z.ZodType)
    return revive === undefined ? [] : ([[name, revive]] as const)
  })
  if (fields.length === 0) return undefined
  return (value) => {
    if (typeof value !== 'object' || value === null) return value
    const revived = { ...value } as Record<string, unknown>
    for (const [name, revive] of fields) if (Object.hasOwn(value, name)) revived[name] = revive(revived[name])
    return revived
  }
}
