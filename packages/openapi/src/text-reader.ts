import type { z } from 'zod'
import { accepts, compiled } from './parser.ts'
import { defOf, factsOf, insides } from './schema.ts'

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

/** A schema without others inside it, of which a schema accepts the values. */
interface Leaf {
  schema: z.ZodType
  kinds: string[]
  /** How many lists it is in. */
  depth: number
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
  const leaves = [...leavesOf(schema)]
  checkCarried(leaves, where, () => false)
  const [own, items] = [leaves.filter(isText(0)), leaves.filter(isText(1))]
  const { param } = factsOf(schema).meta as { param?: { explode?: boolean } }
  const hasCommas = param?.explode === false || !isInQuery
  const readOne = readerOf(own, schema)
  if (items.length === 0) return { isRepeated: false, isList: false, read: ([text = '']) => readOne(text) }
  const readItem = readerOf(items)
  const fits = own.length === 0 ? undefined : matcher(own, schema)
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
  checkCarried([...leavesOf(schema)], where, (type) => !NOT_JSON.test(type))
}

/** @param isCarried whether the source can carry values of a type in a form other than text */
function checkCarried(leaves: Leaf[], where: string, isCarried: (type: string) => boolean): void {
  const types = leaves.flatMap(({ kinds, depth }) =>
    kinds.map((kind) => (kind in READERS && depth > 1 ? 'array of array' : `${'array of '.repeat(depth)}${kind}`)),
  )
  if (types.length === 0 || leaves.some(isText(0)) || leaves.some(isText(1)) || types.some(isCarried)) return
  throw new Error(`${where}, which cannot carry ${[...new Set(types)].join(', ')}`)
}

/** Whether text can represent a leaf in so many lists. */
function isText(depth: number): (leaf: Leaf) => boolean {
  return (leaf) => leaf.depth === depth && leaf.kinds.some((kind) => kind in READERS)
}

/** Reads text as the first type that the schema accepts: number, integer, boolean, then text. */
function readerOf(leaves: Leaf[], schema?: z.ZodType): (text: string) => unknown {
  const kinds = new Set(leaves.flatMap(({ kinds }) => kinds).filter((kind) => kind in READERS))
  const readers = (['number', 'integer', 'boolean'] as const)
    .filter((kind) => kinds.has(kind))
    .map((kind) => READERS[kind])
  if (kinds.size <= 1) return readers[0] ?? READERS.text
  const fits = kinds.has('text') ? matcher(leaves, schema) : () => true
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

/** Tests whether a schema accepts a value. An asynchronous schema is approximated by its leaves. */
function matcher(leaves: Leaf[], schema?: z.ZodType): (value: unknown) => boolean {
  const whole = schema && compiled(schema)
  return (value) => (whole && accepts(whole(), value)) ?? leaves.some((leaf) => accepts(leaf.schema, value) ?? true)
}

const TEXT = new Set(['string', 'template_literal', 'unknown', 'any', 'custom', 'transform'])
// Types whose only value is absence.
const NOTHING = new Set(['undefined', 'void', 'never'])

/** @param ancestors the enclosing schemas, to stop at recursive lazy schemas */
function* leavesOf(schema: z.ZodType, depth = 0, ancestors: readonly z.ZodType[] = []): Generator<Leaf> {
  if (ancestors.includes(schema)) return
  const enclosing = [...ancestors, schema]
  const { type, element } = defOf(schema)
  const kinds = kindsOf(schema)
  const inner = insides(schema)
  if (kinds !== undefined) yield { schema, kinds, depth }
  else if (element !== undefined) yield* leavesOf(element, depth + 1, enclosing)
  else if (inner.length > 0) for (const one of inner) yield* leavesOf(one, depth, enclosing)
  else if (!NOTHING.has(type)) yield { schema, kinds: [type], depth }
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
