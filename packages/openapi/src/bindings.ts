import { z } from 'zod'
import type { Binding, Contract, EnvelopeForm, Procedure, Resource, ResponseHeader } from './contract.ts'
import { shapeMark } from './shape.ts'
import { compiled, isOptional, type Parser, parserOf } from './validate.ts'

/** How text from a path, query string or header becomes a value: never more than digits to a number. */
export type Kind = 'integer' | 'number' | 'boolean' | 'text'

/** An input field and the name it carries where the caller sends it. */
export interface Source {
  /** As the caller writes it: `user_id`, `Idempotency-Key`, `username`. */
  name: string
  field: string
  kind: Kind
  /** Whether it holds several values, with commas between them. */
  isList: boolean
}

/** A source that is a request header. */
export interface HeaderSource extends Source {
  /** Its name as Node gives it, in small letters. */
  key: string
}

/** A binding with all it inherits, and where each input field comes from. */
export interface Door {
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
  path: Source[]
  query: Source[]
  headers: HeaderSource[]
  /** What makes the headers of its answer. */
  answerHeaders: { name: string; value: ResponseHeader['value'] }[]
  /** Absent where the method takes no body. */
  body?: { whole: string } | { fields: Source[] }
}

/**
 * Every door of a contract.
 *
 * @throws Error when a binding names an input field that its procedure does not have, or reads one where it cannot stand
 */
export function doors(contract: Contract): Door[] {
  return Object.entries(contract).flatMap(([noun, resource]) =>
    Object.entries(resource.procedures as Record<string, Procedure>).flatMap(([verb, procedure]) => {
      const { additionalBindings = [], ...first } = procedure.meta.openapi
      const name = `${noun}.${verb}`
      return [first, ...additionalBindings.map((binding) => ({ ...first, ...binding }))].map((binding) =>
        door(name, resource, procedure, { operationId: name, ...binding }),
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

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

function door(name: string, resource: Resource, procedure: Procedure, binding: Binding): Door {
  const input = inputAt(binding, procedure)
  const shape = shapeOf(input)
  const bound = new Set<string>()
  const source = (field: string, as: string): Source => {
    const schema = shape[field]
    if (schema === undefined)
      throw new Error(`${name}: ${binding.method} ${binding.path} binds the unknown field "${field}"`)
    bound.add(field)
    return { name: as, field, ...readingOf(schema) }
  }
  if (!ROUTABLE.test(binding.path)) {
    const rule = 'segments that begin with / and hold at most one {parameter}; *, ? and # are not allowed'
    throw new Error(`${name}: the path ${binding.path} must be ${rule}`)
  }
  const path = [...binding.path.matchAll(PARAMETER)].map(([, param = '']) =>
    source(binding.params?.[param] ?? param, param),
  )
  const headers = Object.entries(binding.headerParams ?? {}).map(([header, field]) => ({
    ...source(field, header),
    key: header.toLowerCase(),
  }))
  if (binding.ifMatch !== undefined) source(binding.ifMatch, 'If-Match')
  const withBody = METHODS_WITH_BODY.has(binding.method)
  if (withBody && binding.body !== undefined) source(binding.body, '')
  // What no binding names comes from the body where there is one, else from the query string.
  const rest = Object.keys(shape)
    .filter((field) => !bound.has(field))
    .map((field) => source(field, field))
  const aliases = withBody ? Object.entries(binding.aliases ?? {}).map(([alias, field]) => source(field, alias)) : []
  if (!withBody && rest.some(({ name }) => name === ENVELOPE)) {
    const reads = `${binding.method} ${binding.path} reads the field "${ENVELOPE}" from the query string`
    throw new Error(
      `${name}: ${reads}, where "${ENVELOPE}" asks for the standard envelope; it needs another name there`,
    )
  }
  const response = binding.response ?? procedure.output
  const facts = factsBeside(binding.responseBody, procedure.output)
  const versions = binding.ifMatch === undefined ? undefined : compiled(shape[binding.ifMatch] as z.ZodType)
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
    takesVersion: (version) => versions?.().safeParse([version]).success ?? false,
    status: binding.status ?? 200,
    path,
    headers,
    answerHeaders: Object.entries(binding.headers ?? {}).map(([name, { value }]) => ({ name, value })),
    query: withBody ? [] : rest,
    ...(withBody && { body: binding.body === undefined ? { fields: [...rest, ...aliases] } : { whole: binding.body } }),
  }
}

// Made when first asked for, since it takes long.
function formOf(name: string, response: z.ZodType, key: string | undefined, facts: z.ZodObject): Door['form'] {
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

function inputAt({ optional = [] }: Binding, { input }: Procedure): z.ZodType {
  if (optional.length === 0) return input
  return (input as z.ZodObject).partial(Object.fromEntries(optional.map((field) => [field, true])) as never)
}

/** The fields of a door's body where none of them is required, so that any subset is valid; else undefined. */
export function subsetFields({ body, input }: Door): string[] | undefined {
  if (body === undefined || 'whole' in body) return undefined
  const shape = shapeOf(input)
  const fields = [...new Set(body.fields.map(({ field }) => field))]
  return fields.every((field) => isOptional(shape[field] as z.ZodType)) ? fields : undefined
}

/**
 * The fields of an object schema.
 *
 * @throws Error when it is none: REST needs names for what it binds
 */
export function shapeOf(schema: z.ZodType): Record<string, z.ZodType> {
  const { shape } = schema as z.ZodObject
  if (shape === undefined) throw new Error('a procedure bound to REST takes an object')
  return shape as Record<string, z.ZodType>
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

/** How the text of a parameter with this schema is read. */
function readingOf(schema: z.ZodType): Pick<Source, 'kind' | 'isList'> {
  const { element } = unwrapped(schema).def as RecordsDef
  return { kind: kindOf(element ?? schema), isList: element !== undefined }
}

function unwrapped(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
    ? unwrapped(schema.unwrap() as z.ZodType)
    : schema
}

function kindOf(schema: z.ZodType): Kind {
  const {
    type,
    format,
    innerType,
    in: input,
  } = schema.def as z.core.$ZodTypeDef & {
    format?: string
    innerType?: z.ZodType
    in?: z.ZodType
  }
  if (schema.meta()?.type === 'integer') return 'integer'
  const inner = innerType ?? input
  if (inner !== undefined) return kindOf(inner)
  if (type === 'number') return format === 'safeint' ? 'integer' : 'number'
  return type === 'boolean' ? type : 'text'
}
