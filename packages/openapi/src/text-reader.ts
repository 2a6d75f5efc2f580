import type { z } from 'zod'
import { accepts, compiled } from './parser.ts'
import { defOf, insides } from './schema.ts'

/** Converts the text of an input field to its value. */
export interface TextReader {
  /** Whether a list in a query string repeats the parameter, instead of separating values by commas. */
  isRepeated: boolean
  /** Whether the field accepts a list. */
  isList: boolean
  /** @param texts one text, or several if the parameter is repeated */
  read: (texts: readonly string[]) => unknown
}

/** The types that text can represent. Integers are digits only. */
type Kind = 'integer' | 'number' | 'boolean' | 'text'

/** The types of text that a schema accepts. */
interface TextTypes {
  kinds: Set<Kind>
  /** The schemas of the kinds. */
  leaves: z.ZodType[]
}

/** The types that a schema accepts. */
interface AcceptedTypes extends TextTypes {
  /** The types of list values. */
  items: TextTypes | undefined
  /** The types that text cannot represent. */
  others: Set<string>
  hasCommas: boolean
}

const NOT_JSON = /(^|array of )(bigint|date|map|set|symbol|function|file|promise|nan)$/

/**
 * The reader of a field in a query string, a path or a header. A list in a query string repeats the parameter, unless the
 * field's `param.explode` is false. In all other cases, commas separate the values of a list.
 *
 * @param where the field and its source, for error messages
 * @throws Error if text cannot represent any type that the field accepts
 */
export function textReaderOf(schema: z.ZodType, where: string, isInQuery: boolean): TextReader {
  const accepted = acceptedTypes(schema)
  checkCarried(accepted, where, () => false)
  const { items } = accepted
  const hasCommas = accepted.hasCommas || !isInQuery
  const readOne = readerOf(accepted, schema)
  if (items === undefined) return { isRepeated: false, isList: false, read: ([text = '']) => readOne(text) }
  const readItem = readerOf(items)
  const fits = accepted.kinds.size === 0 ? undefined : matcher(accepted, schema)
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

/** @throws Error if JSON cannot represent any type that a body field accepts */
export function checkBodyField(schema: z.ZodType, where: string): void {
  checkCarried(acceptedTypes(schema), where, (type) => !NOT_JSON.test(type))
}

/** @param isCarried whether the source can carry values of a type in a form other than text */
function checkCarried(
  { kinds, items, others }: AcceptedTypes,
  where: string,
  isCarried: (type: string) => boolean,
): void {
  if (kinds.size > 0 || items !== undefined || others.size === 0 || [...others].some(isCarried)) return
  throw new Error(`${where}, which cannot carry ${[...others].join(', ')}`)
}

/** Reads text as the first type that the schema accepts: number, integer, boolean, then text. */
function readerOf(texts: TextTypes, schema?: z.ZodType): (text: string) => unknown {
  const { kinds } = texts
  const readers = (['number', 'integer', 'boolean'] as const)
    .filter((kind) => kinds.has(kind))
    .map((kind) => READERS[kind])
  if (kinds.size <= 1) return readers[0] ?? READERS.text
  const fits = kinds.has('text') ? matcher(texts, schema) : () => true
  return (text) => {
    for (const read of readers) {
      const value = read(text)
      if (value !== text && fits(value)) return value
    }
    return text
  }
}

/** The values of text; text in another form stays text. */
export const READERS: Record<Kind, (text: string) => unknown> = {
  text: (text) => text,
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : text),
  // The grammar of JSON (RFC 8259, 6), in which all languages write numbers.
  number: (text) => (/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : text),
  // Too many digits become MAX_VALUE, still an integer. The schema then rejects it, instead of accepting a rounded value.
  integer: (text) =>
    /^-?\d+$/.test(text) ? Math.max(-Number.MAX_VALUE, Math.min(Number(text), Number.MAX_VALUE)) : text,
}

/** Tests whether a schema accepts a value. An asynchronous schema is approximated by its leaf schemas. */
function matcher({ leaves }: TextTypes, schema?: z.ZodType): (value: unknown) => boolean {
  const whole = schema && compiled(schema)
  return (value) => (whole && accepts(whole(), value)) ?? leaves.some((leaf) => accepts(leaf, value) ?? true)
}

const TEXT = new Set(['string', 'template_literal', 'unknown', 'any', 'custom', 'transform'])
// Types whose only value is absence.
const NOTHING = new Set(['undefined', 'void', 'never'])

/** @param ancestors the enclosing schemas, to stop at recursive lazy schemas */
function acceptedTypes(schema: z.ZodType, ancestors: readonly z.ZodType[] = []): AcceptedTypes {
  const accepted: AcceptedTypes = {
    kinds: new Set(),
    leaves: [],
    items: undefined,
    others: new Set(),
    hasCommas: false,
  }
  const explore = (schema: z.ZodType, ancestors: readonly z.ZodType[]): void => {
    if (ancestors.includes(schema)) return
    const enclosing = [...ancestors, schema]
    const { type, element } = defOf(schema)
    const { param } = (schema.meta() ?? {}) as { param?: { explode?: boolean } }
    if (param?.explode === false) accepted.hasCommas = true
    const kinds = kindsOf(schema)
    const inner = insides(schema)
    if (kinds !== undefined) {
      accepted.leaves.push(schema)
      for (const kind of kinds) {
        if (kind in READERS) accepted.kinds.add(kind as Kind)
        else accepted.others.add(kind)
      }
    } else if (element !== undefined) {
      const { kinds, leaves, items, others } = acceptedTypes(element, enclosing)
      if (kinds.size > 0) {
        accepted.items ??= { kinds: new Set(), leaves: [] }
        for (const kind of kinds) accepted.items.kinds.add(kind)
        accepted.items.leaves.push(...leaves)
      }
      if (items !== undefined) accepted.others.add('array of array')
      for (const other of others) accepted.others.add(`array of ${other}`)
    } else if (inner.length > 0) {
      for (const one of inner) explore(one, enclosing)
    } else if (!NOTHING.has(type)) accepted.others.add(type)
  }
  explore(schema, ancestors)
  return accepted
}

/** The kinds of a leaf schema, or its types that text cannot represent; undefined for a schema that contains others. */
function kindsOf(schema: z.ZodType): string[] | undefined {
  const { type, format, coerce, values } = defOf(schema)
  if (schema.meta()?.type === 'integer') return ['integer']
  if (type === 'number') return [format === 'safeint' ? 'integer' : 'number']
  if (type === 'boolean') return ['boolean']
  if (TEXT.has(type) || coerce) return ['text']
  const listed = type === 'enum' ? (schema as z.ZodEnum).options : values
  return listed?.map((value) => (value === null ? 'null' : typeof value === 'string' ? 'text' : typeof value))
}
