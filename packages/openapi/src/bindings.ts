import { z } from 'zod'
import type { Binding, Contract, EnvelopeForm, Procedure, Resource, ResponseHeader } from './contract.ts'
import { checkBodyField, type Reading, readingOf } from './reading.ts'
import { shapeMark } from './shape.ts'
import { accepts, compiled, isOptional, type Parser, parserOf } from './validate.ts'

/** An input field and the name it carries where the caller sends it. */
export interface Source {
  /** As the caller writes it: `user_id`, `Idempotency-Key`, `username`. */
  name: string
  field: string
}

/** A source that is text. */
export interface TextSource extends Source, Reading {}

/** A source that is a request header. */
export interface HeaderSource extends TextSource {
  /** Its name as Node gives it, in small letters. */
  key: string
}

/** A binding with all it inherits, and where each input field comes from. */
export interface ResolvedBinding {
  /** `users.get` */
  name: string
  resource: Resource
  procedure: Procedure
  binding: Binding
  /** The procedure's input as this binding takes it. */
  input: z.ZodType
  /** Its parser; absent where it is the procedure's own. */
  parse: Parser | undefined
  response: z.ZodType
  /** The same, to parse with. */
  shows: () => z.ZodType
  /** The fields that the answer needs of the record, or of each of a list; undefined where it shows no objects. */
  shown: readonly string[] | undefined
  /** What the output says beside its `responseBody`. */
  facts: z.ZodObject
  /** Names the answer's shape in an `ETag`, or that of the answer in an envelope: `User.5b1f0c`. */
  form: (envelope?: EnvelopeForm) => string
  /** Whether the field of `If-Match` can hold this version: one that it cannot is that of no record. */
  takesVersion: (version: number) => boolean
  status: 200 | 201 | 204
  path: TextSource[]
  query: TextSource[]
  headers: HeaderSource[]
  /** What makes the headers of its answer. */
  answerHeaders: { name: string; value: ResponseHeader['value'] }[]
  /** Whether its input takes fields that it does not name, or refuses them. */
  judgesUnknown: boolean
  /** Absent where the method takes no body. */
  body?: { whole: string } | { fields: Source[] }
}

/**
 * Every binding of a contract.
 *
 * @param hasEnvelope whether the query parameter `envelope` asks for the standard envelope
 * @throws Error when a binding names an input field that its procedure does not have, or reads one where it cannot stand
 */
export function resolveBindings(contract: Contract, hasEnvelope = true): ResolvedBinding[] {
  return Object.entries(contract).flatMap(([noun, resource]) =>
    Object.entries(resource.procedures as Record<string, Procedure>).flatMap(([verb, procedure]) => {
      const { additionalBindings = [], ...first } = procedure.meta.openapi
      const name = `${noun}.${verb}`
      return [first, ...additionalBindings.map((binding) => ({ ...first, ...binding }))].map((binding) =>
        resolve(name, resource, procedure, { operationId: name, ...binding }, hasEnvelope),
      )
    }),
  )
}

/** A parameter of a path, with its name. */
export const PARAMETER = /\{([^/{}]+)\}/g

// Two parameters of one segment could be split in many ways, and finding out takes long.
const ROUTABLE = /^(?:\/[^/{}*?#]*(?:\{[^/{}]+\}[^/{}*?#]*)?)+$/

/** The query parameter that asks for the standard envelope. */
export const ENVELOPE = 'envelope'

const QUERY_STRING = 'the query string'

/** The methods whose requests carry input in a body. */
export const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

function resolve(
  name: string,
  resource: Resource,
  procedure: Procedure,
  binding: Binding,
  hasEnvelope: boolean,
): ResolvedBinding {
  const input = inputAt(name, binding, procedure)
  if (variantsOf(input).length === 0) {
    throw new Error(`${name}: its input must be an object, or a union of objects, for REST`)
  }
  const shape = shapeOf(input)
  const place = `${name}: ${binding.method} ${binding.path}`
  const bound = new Set<string>()
  const schemaOf = (field: string): z.ZodType => {
    const schema = shape[field]
    if (schema === undefined) throw new Error(`${place} binds the unknown field "${field}"`)
    bound.add(field)
    return schema
  }
  const fromText = (field: string, as: string, from: string): TextSource => ({
    name: as,
    field,
    ...readingOf(schemaOf(field), `${place} reads the field "${field}" from ${from}`, from === QUERY_STRING),
  })
  const fromBody = (field: string, as: string): Source => {
    checkBodyField(schemaOf(field), `${place} reads the field "${field}" from the body`)
    return { name: as, field }
  }
  if (!ROUTABLE.test(binding.path)) {
    const rule = 'segments that begin with / and hold at most one {parameter}; *, ? and # are not allowed'
    throw new Error(`${name}: the path ${binding.path} must be ${rule}`)
  }
  const path = [...binding.path.matchAll(PARAMETER)].map(([, param = '']) =>
    fromText(binding.params?.[param] ?? param, param, 'the path'),
  )
  const headers = Object.entries(binding.headerParams ?? {}).map(([header, field]) => ({
    ...fromText(field, header, `the header ${header}`),
    key: header.toLowerCase(),
  }))
  const versions = binding.ifMatch === undefined ? undefined : compiled(schemaOf(binding.ifMatch))
  const withBody = METHODS_WITH_BODY.has(binding.method)
  if (withBody && binding.body !== undefined) fromBody(binding.body, '')
  // What no binding names comes from the body where there is one, else from the query string.
  const rest = Object.keys(shape).filter((field) => !bound.has(field))
  if (hasEnvelope && !withBody && rest.includes(ENVELOPE)) {
    const asks = `where "${ENVELOPE}" asks for the standard envelope; it needs another name there`
    throw new Error(`${place} reads the field "${ENVELOPE}" from ${QUERY_STRING}, ${asks}`)
  }
  const query = withBody ? [] : rest.map((field) => fromText(field, field, QUERY_STRING))
  const fields = withBody ? rest.map((field) => fromBody(field, field)) : []
  const aliases = withBody ? Object.entries(binding.aliases ?? {}).map(([alias, field]) => fromBody(field, alias)) : []
  const response = binding.response ?? procedure.output
  const facts = factsBeside(binding.responseBody, procedure.output)
  return {
    name,
    resource,
    procedure,
    binding,
    input,
    parse: input === procedure.input ? undefined : parserOf(input),
    response,
    shows: compiled(response),
    shown: shownBy(response, binding.etag),
    facts,
    form: formOf(response.meta()?.id ?? (binding.operationId as string), response, binding.envelope, facts),
    takesVersion: (version) => versions !== undefined && (accepts(versions(), [version]) ?? true),
    status: binding.status ?? 200,
    path,
    headers,
    answerHeaders: Object.entries(binding.headers ?? {}).map(([name, { value }]) => ({ name, value })),
    query,
    judgesUnknown: variantsOf(input).some(({ def }) => def.catchall !== undefined),
    ...(withBody && {
      body: binding.body === undefined ? { fields: [...fields, ...aliases] } : { whole: binding.body },
    }),
  }
}

// Made when first asked for, since it takes long.
function formOf(
  name: string,
  response: z.ZodType,
  key: string | undefined,
  facts: z.ZodObject,
): ResolvedBinding['form'] {
  let plain: string | undefined
  let wrapped: string | undefined
  return (envelope) => {
    if (envelope === undefined) {
      plain ??= `${name}.${shapeMark(response)}`
      return plain
    }
    const data = key === undefined ? response : z.object({ [key]: response })
    wrapped ??= `${name}.${shapeMark(envelope.schema(data, facts.shape))}-envelope`
    return wrapped
  }
}

function inputAt(name: string, { optional = [] }: Binding, { input }: Procedure): z.ZodType {
  if (optional.length === 0) return input
  try {
    return (input as z.ZodObject).partial(Object.fromEntries(optional.map((field) => [field, true])) as never)
  } catch (cause) {
    throw new Error(`${name}: "optional" needs an input that is a plain object, without checks of its own`, { cause })
  }
}

/** The fields of a binding's body where there are some and none is required, so that any subset is valid; else undefined. */
export function subsetFields({ body, input }: ResolvedBinding): string[] | undefined {
  if (body === undefined || 'whole' in body) return undefined
  const shape = shapeOf(input)
  const fields = [...new Set(body.fields.map(({ field }) => field))]
  const isSubset = fields.length > 0 && fields.every((field) => isOptional(shape[field] as z.ZodType))
  return isSubset ? fields : undefined
}

/** The fields of an object schema; of a union, those of every option, as any of them takes them. */
export function shapeOf(schema: z.ZodType): Record<string, z.ZodType> {
  const variants = variantsOf(schema)
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

/** The objects that a schema takes: itself, the options of a union; none where it takes no objects. */
export function variantsOf(schema: z.ZodType): z.ZodObject[] {
  if (schema instanceof z.ZodObject) return [schema]
  const { options = [], left, right, innerType, in: input, out, getter } = schema.def as ObjectsDef
  if (left !== undefined && right !== undefined) {
    const others = variantsOf(right)
    return variantsOf(left).flatMap((one) => others.map((other) => z.object({ ...one.shape, ...other.shape })))
  }
  const inner = input?.def.type === 'transform' ? out : (innerType ?? input ?? getter?.())
  return [...options, ...(inner === undefined ? [] : [inner])].flatMap(variantsOf)
}

type ObjectsDef = z.core.$ZodTypeDef & {
  options?: z.ZodType[]
  left?: z.ZodType
  right?: z.ZodType
  innerType?: z.ZodType
  in?: z.ZodType
  out?: z.ZodType
  getter?: () => z.ZodType
}

function shownBy(response: z.ZodType, versionField: string | undefined): readonly string[] | undefined {
  let record = (response.def as RecordsDef).element ?? response
  // What a transform is given.
  while ((record.def as RecordsDef).in !== undefined) record = (record.def as RecordsDef).in as z.ZodType
  if (!('shape' in record)) return undefined
  return [...Object.keys(shapeOf(record)), ...(versionField === undefined ? [] : [versionField])]
}

type RecordsDef = z.core.$ZodTypeDef & { element?: z.ZodType; in?: z.ZodType }

function factsBeside(responseBody: string | undefined, output: z.ZodType): z.ZodObject {
  if (responseBody === undefined) return z.object({})
  const { [responseBody]: _, ...facts } = shapeOf(output)
  return z.object(facts)
}
