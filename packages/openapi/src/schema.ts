import { z } from 'zod'

/** What a field accepts: its schema without wrappers such as `optional`, and what the wrappers add. */
export interface Facts {
  /** The schema without wrappers, on the input side of a pipe. */
  core: z.ZodType
  /** The schema with `nullable`, but without `optional` and a default. */
  value: z.ZodType
  /** The type of `core`, such as `string` or `enum`; `integer` for whole numbers. */
  type: string
  /** Such as `email`, `date`, `datetime` or `password`. */
  format: string | undefined
  isNullable: boolean
  /** Whether it may be omitted: it is optional, or has a default. */
  isOptional: boolean
  /** The default; undefined if there is none. */
  initial: unknown
  /** The values of a choice. */
  choices: readonly (string | number)[] | undefined
  /** The schema of the elements of a list. */
  element: z.ZodType | undefined
  /** The smallest and largest number. */
  minimum: number | undefined
  maximum: number | undefined
  /** The fewest and most characters. */
  minLength: number | undefined
  maxLength: number | undefined
  /** The metadata of all wrappers and of `core`; outer ones take precedence. The name of the schema is not part of it. */
  meta: Readonly<Record<string, unknown>>
}

/** The properties of the definitions of all types. */
type Def = z.core.$ZodTypeDef & {
  format?: string
  coerce?: boolean
  values?: unknown[]
  defaultValue?: unknown
  innerType?: z.ZodType
  in?: z.ZodType
  out?: z.ZodType
  left?: z.ZodType
  right?: z.ZodType
  element?: z.ZodType
  options?: z.ZodType[]
  getter?: () => z.ZodType
}

export function defOf(schema: z.ZodType): Def {
  return schema.def as Def
}

const known = new WeakMap<z.ZodType, Facts>()

/** The description of a field, derived once from its schema. */
export function factsOf(schema: z.ZodType): Facts {
  let facts = known.get(schema)
  if (facts === undefined) {
    facts = derived(schema)
    known.set(schema, facts)
  }
  return facts
}

function derived(schema: z.ZodType): Facts {
  const { id: _, ...meta } = schema.meta() ?? {}
  const def = defOf(schema)
  const inner = def.type === 'promise' ? undefined : (def.innerType ?? def.in)
  if (inner === undefined) return { ...ofCore(schema, def), meta, format: formatIn(meta) ?? def.format }
  const facts = factsOf(inner)
  const all = { ...facts, meta: { ...facts.meta, ...meta }, format: formatIn(meta) ?? facts.format }
  switch (def.type) {
    case 'optional':
      return { ...all, isOptional: true }
    case 'default':
    case 'prefault':
      return { ...all, isOptional: true, initial: def.defaultValue }
    case 'nullable':
      return { ...all, value: schema, isNullable: true }
    default:
      return { ...all, value: schema }
  }
}

function ofCore(core: z.ZodType, def: Def): Omit<Facts, 'meta' | 'format'> {
  const { type: ownType, minimum, maximum, minLength, maxLength } = (core.meta() ?? {}) as Record<string, unknown>
  const isWhole = ownType === 'integer' || /^(safe|u?)int(32)?$/.test(def.format ?? '')
  const own = core as Partial<Record<'minValue' | 'maxValue' | 'minLength' | 'maxLength', number | null>>
  const bound = (named: unknown, own: number | null | undefined) => (named as number | undefined) ?? own ?? undefined
  return {
    core,
    value: core,
    type: isWhole ? 'integer' : def.type,
    isNullable: false,
    isOptional: false,
    initial: undefined,
    choices: core instanceof z.ZodEnum ? core.options : undefined,
    element: def.type === 'array' ? def.element : undefined,
    minimum: bound(minimum, own.minValue),
    maximum: bound(maximum, own.maxValue),
    minLength: bound(minLength, own.minLength),
    maxLength: bound(maxLength, own.maxLength),
  }
}

function formatIn({ format }: Record<string, unknown>): string | undefined {
  return format as string | undefined
}

/** Changes the schema inside `optional` and a default, and keeps these. */
export function withValue(schema: z.ZodType, change: (value: z.ZodType) => z.ZodType): z.ZodType {
  const { value, isOptional, initial } = factsOf(schema)
  if (!isOptional) return change(value)
  return initial === undefined ? change(value).optional() : change(value).default(initial)
}

/** The schemas of which a schema accepts the values: those of a wrapper, union, intersection, pipe or lazy schema. */
export function insides(schema: z.ZodType): z.ZodType[] {
  const { type, innerType, in: input, out, left, right, options = [], getter } = defOf(schema)
  if (type === 'promise') return []
  const isPreprocess = input?.def.type === 'transform'
  return [...options, innerType, isPreprocess ? out : input, left, right, getter?.()].filter((one) => one !== undefined)
}

/** The object schemas inside a schema: itself, or the options of a union; empty if it accepts no objects. */
export function objectsIn(schema: z.ZodType): z.ZodObject[] {
  if (schema instanceof z.ZodObject) return [schema]
  if (!(schema instanceof z.ZodIntersection)) return insides(schema).flatMap(objectsIn)
  const [left = [], right = []] = insides(schema).map(objectsIn)
  return left.flatMap((one) => right.map((other) => z.object({ ...one.shape, ...other.shape })))
}

/** The fields of an object schema. For a union: the fields of all options, each accepting what any option accepts. */
export function shapeOf(schema: z.ZodType): Record<string, z.ZodType> {
  const variants = objectsIn(schema)
  if (variants.length === 1) return (variants[0] as z.ZodObject).shape as Record<string, z.ZodType>
  const fields = [...new Set(variants.flatMap(({ shape }) => Object.keys(shape)))]
  return Object.fromEntries(
    fields.map((field) => {
      const schemas = variants.flatMap(({ shape }) => (shape[field] as z.ZodType) ?? [])
      const [first] = new Set(schemas)
      const any = new Set(schemas).size === 1 ? (first as z.ZodType) : z.union(schemas)
      return [field, schemas.length < variants.length ? any.optional() : any]
    }),
  )
}
