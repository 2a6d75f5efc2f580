import type { z } from 'zod'
import { accepts, compiled } from './validate.ts'

/** How the text of an input field becomes its value. */
export interface Reading {
  /** Whether a query string gives a list by repeating the parameter, rather than by commas. */
  isRepeated: boolean
  /** Whether it may be a list at all. */
  isList: boolean
  /** @param texts one, or several where it is repeated */
  read: (texts: readonly string[]) => unknown
}

/** What text may stand for: never more than digits for a number. */
type Kind = 'integer' | 'number' | 'boolean' | 'text'

/** What text a schema takes. */
interface Texts {
  kinds: Set<Kind>
  /** The schemas of the kinds. */
  leaves: z.ZodType[]
}

/** What a schema takes. */
interface Taken extends Texts {
  /** What it takes as the values of a list. */
  items: Texts | undefined
  /** The types that text cannot stand for. */
  others: Set<string>
  hasCommas: boolean
}

const NOT_JSON = /(^|array of )(bigint|date|map|set|symbol|function|file|promise|nan)$/

/**
 * The reading of a field that comes from a query string, a path or a header. The values of a list are separated by
 * commas, but in a query string, where the parameter is repeated, unless the field's `param.explode` is false.
 *
 * @param where how an error names the field and its place
 * @throws Error where no text stands for what the field takes
 */
export function readingOf(schema: z.ZodType, where: string, isInQuery: boolean): Reading {
  const taken = takenBy(schema)
  checkCarried(taken, where, () => false)
  const { items } = taken
  const hasCommas = taken.hasCommas || !isInQuery
  const readOne = readerOf(taken, schema)
  if (items === undefined) return { isRepeated: false, isList: false, read: ([text = '']) => readOne(text) }
  const readItem = readerOf(items)
  const fits = taken.kinds.size === 0 ? undefined : fitter(taken, schema)
  const read = (texts: readonly string[]) => {
    const [text = ''] = texts
    if (fits !== undefined && texts.length === 1) {
      const value = readOne(text)
      if (fits(value)) return value
    }
    return (hasCommas ? text.split(',') : texts).map(readItem)
  }
  return { isRepeated: !hasCommas, isList: true, read }
}

/** @throws Error where no JSON stands for what a field takes that comes from a body */
export function checkBodyField(schema: z.ZodType, where: string): void {
  checkCarried(takenBy(schema), where, (type) => !NOT_JSON.test(type))
}

/** @param isCarried whether a value of a type comes as something else than text */
function checkCarried({ kinds, items, others }: Taken, where: string, isCarried: (type: string) => boolean): void {
  if (kinds.size > 0 || items !== undefined || others.size === 0 || [...others].some(isCarried)) return
  throw new Error(`${where}, which cannot carry ${[...others].join(', ')}`)
}

/** Reads text as the first of what it may stand for that the schema takes. */
function readerOf(texts: Texts, schema?: z.ZodType): (text: string) => unknown {
  const { kinds } = texts
  const readers = (['number', 'integer', 'boolean'] as const)
    .filter((kind) => kinds.has(kind))
    .map((kind) => READERS[kind])
  if (kinds.size <= 1) return readers[0] ?? READERS.text
  const fits = kinds.has('text') ? fitter(texts, schema) : () => true
  return (text) => {
    for (const read of readers) {
      const value = read(text)
      if (value !== text && fits(value)) return value
    }
    return text
  }
}

const READERS: Record<Kind, (text: string) => unknown> = {
  text: (text) => text,
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : text),
  number: (text) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text),
  // However many digits there are, they are a whole number, for the schema to judge: never a smaller one, which it might take.
  integer: (text) =>
    /^-?\d+$/.test(text) ? Math.max(-Number.MAX_VALUE, Math.min(Number(text), Number.MAX_VALUE)) : text,
}

/** Whether a schema takes a value. Where it is asynchronous, what it is made of says so. */
function fitter({ leaves }: Texts, schema?: z.ZodType): (value: unknown) => boolean {
  const whole = schema && compiled(schema)
  return (value) => (whole && accepts(whole(), value)) ?? leaves.some((leaf) => accepts(leaf, value) ?? true)
}

interface Def {
  type: string
  format?: string
  coerce?: boolean
  innerType?: z.ZodType
  in?: z.ZodType
  out?: z.ZodType
  left?: z.ZodType
  right?: z.ZodType
  element?: z.ZodType
  options?: z.ZodType[]
  values?: unknown[]
  getter?: () => z.ZodType
}

const TEXT = new Set(['string', 'template_literal', 'unknown', 'any', 'custom', 'transform'])
// What is only ever left out.
const NOTHING = new Set(['undefined', 'void', 'never'])

/** @param ancestors the schemas around this one, which a lazy one may lead back to */
function takenBy(schema: z.ZodType, ancestors: readonly z.ZodType[] = []): Taken {
  const taken: Taken = { kinds: new Set(), leaves: [], items: undefined, others: new Set(), hasCommas: false }
  const explore = (schema: z.ZodType, around: readonly z.ZodType[]): void => {
    if (around.includes(schema)) return
    const within = [...around, schema]
    const def = schema.def as unknown as Def
    const { type } = def
    const { param } = (schema.meta() ?? {}) as { param?: { explode?: boolean } }
    if (param?.explode === false) taken.hasCommas = true
    const kinds = kindsOf(schema, def)
    const inner = innerOf(def)
    if (kinds !== undefined) {
      taken.leaves.push(schema)
      for (const kind of kinds) {
        if (kind in READERS) taken.kinds.add(kind as Kind)
        else taken.others.add(kind)
      }
    } else if (def.element !== undefined) {
      const { kinds, leaves, items, others } = takenBy(def.element, within)
      if (kinds.size > 0) {
        taken.items ??= { kinds: new Set(), leaves: [] }
        for (const kind of kinds) taken.items.kinds.add(kind)
        taken.items.leaves.push(...leaves)
      }
      if (items !== undefined) taken.others.add('array of array')
      for (const other of others) taken.others.add(`array of ${other}`)
    } else if (inner.length > 0) {
      for (const one of inner) explore(one, within)
    } else if (!NOTHING.has(type)) taken.others.add(type)
  }
  explore(schema, ancestors)
  return taken
}

/** The kinds of a schema's values, or the types that are none; undefined where that is for other schemas to say. */
function kindsOf(schema: z.ZodType, { type, format, coerce, values }: Def): string[] | undefined {
  if (schema.meta()?.type === 'integer') return ['integer']
  if (type === 'number') return [format === 'safeint' ? 'integer' : 'number']
  if (type === 'boolean') return ['boolean']
  if (TEXT.has(type) || coerce) return ['text']
  const listed = type === 'enum' ? (schema as z.ZodEnum).options : values
  return listed?.map((value) => (value === null ? 'null' : typeof value === 'string' ? 'text' : typeof value))
}

function innerOf({ type, innerType, in: input, out, left, right, options = [], getter }: Def): z.ZodType[] {
  if (type === 'promise') return []
  const isPreprocess = input?.def.type === 'transform'
  return [...options, innerType, isPreprocess ? out : input, left, right, getter?.()].filter((one) => one !== undefined)
}
