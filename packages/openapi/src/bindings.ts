import { z } from 'zod'
import type { Binding, Contract, EnvelopeForm, Procedure, Resource, ResponseHeader } from './contract.ts'
import { INCLUDE, type Includer, includerOf } from './included.ts'
import { accepts, compiled, isOptional, type Parser, parserOf } from './parser.ts'
import { FIELDS, type Picker, pickerOf, type View } from './picked-fields.ts'
import { factsOf, objectsIn, shapeOf } from './schema.ts'
import { shapeHash } from './shape.ts'
import { checkBodyField, type TextReader, textReaderOf } from './text-reader.ts'
import { answerFields } from './unknown-fields.ts'

/** An input field and its name in the request. */
export interface Source {
  /** The name in the request: `user_id`, `Idempotency-Key`, `username`. */
  name: string
  field: string
}

/** A source whose value is text: in the path, the query string or a header. */
export interface TextSource extends Source, TextReader {}

/** A source in a request header. */
export interface HeaderSource extends TextSource {
  /** The lower-case name, as in Node's `headers`. */
  key: string
}

/** A binding with its inherited properties and the source of each input field. */
export interface ResolvedBinding extends View {
  /** `users.get` */
  name: string
  resource: Resource
  procedure: Procedure
  binding: Binding
  /** The input schema of this binding. */
  input: z.ZodType
  /** The parser of `input`; undefined if the input is that of the procedure. */
  parse: Parser | undefined
  response: z.ZodType
  /** The names of the fields in the response. */
  answered: () => ReadonlySet<string>
  /** Picks the fields of the records in the response; undefined if callers cannot. */
  picker: Picker | undefined
  /** Adds referenced records to the response; undefined if it has no references. */
  includer: Includer | undefined
  /** The output fields other than `responseBody`. */
  facts: z.ZodObject
  /** Whether the field of `If-Match` accepts this version. A version that it does not accept matches no record. */
  takesVersion: (version: number) => boolean
  status: 200 | 201 | 204
  path: TextSource[]
  query: TextSource[]
  headers: HeaderSource[]
  /** The fields that the path, the query string or headers have. */
  fromText: ReadonlySet<PropertyKey>
  /** The header of each field that some binding of the contract reads from a header, and that this body does not have. */
  headerFields: ReadonlyMap<string, string>
  /** The functions that compute the response headers. */
  answerHeaders: { name: string; value: ResponseHeader['value'] }[]
  /** The names of all query parameters: those of `query`, then those that are no input, `envelope`, `fields`, `include`. */
  parameters: readonly string[]
  /** Absent if the method has no request body. */
  body?: { whole: string } | { fields: Source[] }
}

/**
 * Resolves every binding of a contract.
 *
 * @param hasEnvelope whether the query parameter `envelope` selects the envelope
 * @throws Error if a binding names an input field that its procedure does not have, or reads a field from a source that
 * cannot carry it
 */
export function resolveBindings(contract: Contract, hasEnvelope = true): ResolvedBinding[] {
  const known = hasEnvelope ? resolvedWithEnvelope : resolvedWithout
  const found = known.get(contract) ?? resolveAll(contract, hasEnvelope)
  known.set(contract, found)
  return found
}

// The procedures, their routes and the document of a service use the same bindings.
const resolvedWithEnvelope = new WeakMap<Contract, ResolvedBinding[]>()
const resolvedWithout = new WeakMap<Contract, ResolvedBinding[]>()

function resolveAll(contract: Contract, hasEnvelope: boolean): ResolvedBinding[] {
  const all = Object.entries(contract).flatMap(([noun, resource]) =>
    Object.entries(resource.procedures as Record<string, Procedure>).flatMap(([verb, procedure]) => {
      const { additionalBindings = [], ...first } = procedure.meta.openapi
      const name = `${noun}.${verb}`
      return [first, ...additionalBindings.map((binding) => ({ ...first, ...binding }))].map((binding) =>
        resolve(contract, name, resource, procedure, { operationId: name, ...binding }, hasEnvelope),
      )
    }),
  )
  const headers = headersIn(all)
  return all.map((resolved) => {
    const takes = bodyTakes(resolved)
    return { ...resolved, headerFields: new Map(headers.filter(([field]) => !takes(field))) }
  })
}

/** The input fields that some binding of a contract reads from a header. */
export function headerFieldsOf(contract: Contract): string[] {
  return [...new Set(headersIn(resolveBindings(contract)).map(([field]) => field))]
}

function headersIn(all: readonly Omit<ResolvedBinding, 'headerFields'>[]): [field: string, header: string][] {
  return all.flatMap(({ headers, binding: { ifMatch } }): [string, string][] => [
    ...headers.map(({ field, name }): [string, string] => [field, name]),
    ...(ifMatch === undefined ? [] : [[ifMatch, 'If-Match'] as [string, string]]),
  ])
}

/** Whether the body of a binding, or each of its rows, can have a field. */
function bodyTakes({ body, input }: Omit<ResolvedBinding, 'headerFields'>): (field: string) => boolean {
  if (body === undefined) return () => false
  const shape = shapeOf(input)
  const whole = 'whole' in body ? (shape[body.whole] as z.ZodType) : input
  const variants = objectsIn(factsOf(whole).element ?? whole)
  // A loose or strict object judges unknown fields itself.
  const isOpen = variants.length === 0 || variants.some(({ def }) => def.catchall !== undefined)
  if ('fields' in body) {
    return (field) => body.fields.some(({ name }) => name === field) || (isOpen && !Object.hasOwn(shape, field))
  }
  return (field) => isOpen || variants.some(({ shape }) => Object.hasOwn(shape, field))
}

/** Matches a path parameter; the first group is its name. */
export const PARAMETER = /\{([^/{}]+)\}/g

// At most one parameter per segment: several could be split in many ways, and trying all is slow.
const ROUTABLE = /^(?:\/[^/{}*?#]*(?:\{[^/{}]+\}[^/{}*?#]*)?)+$/

/** @throws Error if the router cannot match the path of a procedure */
export function checkPath(procedure: string, path: string): void {
  if (ROUTABLE.test(path)) return
  const rule = 'segments that begin with / and contain at most one {parameter}; *, ? and # are not allowed'
  throw new Error(`${procedure}: the path ${path} must be ${rule}`)
}

/** The query parameter that selects the envelope. */
export const ENVELOPE = 'envelope'

/** What each query parameter that is no input selects. */
const PARAMETERS: Record<string, string> = {
  [ENVELOPE]: 'the envelope',
  [FIELDS]: 'fields of the answer',
  [INCLUDE]: 'referenced records',
}

const QUERY_STRING = 'the query string'

/** The methods whose input is in the request body. */
export const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

function resolve(
  contract: Contract,
  name: string,
  resource: Resource,
  procedure: Procedure,
  binding: Binding,
  hasEnvelope: boolean,
): Omit<ResolvedBinding, 'headerFields'> {
  const input = inputAt(name, binding, procedure)
  if (objectsIn(input).length === 0) {
    throw new Error(`${name}: its input must be an object, or a union of objects, for REST`)
  }
  const shape = shapeOf(input)
  const where = `${name}: ${binding.method} ${binding.path}`
  const bound = new Set<string>()
  const schemaOf = (field: string): z.ZodType => {
    const schema = shape[field]
    if (schema === undefined) throw new Error(`${where} binds the unknown field "${field}"`)
    bound.add(field)
    return schema
  }
  const fromText = (field: string, as: string, from: string): TextSource => ({
    name: as,
    field,
    ...textReaderOf(schemaOf(field), `${where} reads the field "${field}" from ${from}`, from === QUERY_STRING),
  })
  const fromBody = (field: string, as: string): Source => {
    checkBodyField(schemaOf(field), `${where} reads the field "${field}" from the body`)
    return { name: as, field }
  }
  checkPath(name, binding.path)
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
  // All other fields come from the body if it is an object of fields, or else from the query string.
  const rest = Object.keys(shape).filter((field) => !bound.has(field))
  const inBody = withBody && binding.body === undefined
  const response = binding.response ?? procedure.output
  const includer = includerOf(contract, response, binding.includes)
  const parameters = [
    ...(hasEnvelope ? [ENVELOPE] : []),
    ...(binding.pickable ? [FIELDS] : []),
    ...(includer ? [INCLUDE] : []),
  ]
  for (const name of inBody ? [] : parameters.filter((name) => rest.includes(name))) {
    const reason = `where "${name}" selects ${PARAMETERS[name]}; give the field another name`
    throw new Error(`${where} reads the field "${name}" from ${QUERY_STRING}, ${reason}`)
  }
  const query = inBody ? [] : rest.map((field) => fromText(field, field, QUERY_STRING))
  const fields = inBody ? rest.map((field) => fromBody(field, field)) : []
  const aliases = inBody ? Object.entries(binding.aliases ?? {}).map(([alias, field]) => fromBody(field, alias)) : []
  const facts = otherFields(binding.responseBody, procedure.output)
  const view: View = {
    shown: shownFields(response, binding.etag),
    shows: compiled(response),
    form: formOf(response.meta()?.id ?? (binding.operationId as string), response, binding.envelope, facts),
  }
  return {
    name,
    resource,
    procedure,
    binding,
    input,
    parse: input === procedure.input ? undefined : parserOf(input),
    response,
    answered: once(() => answerFields(response)),
    ...view,
    includer,
    picker: binding.pickable ? pickerOf(where, response, view, binding.etag) : undefined,
    facts,
    takesVersion: (version) => versions !== undefined && (accepts(versions(), [version]) ?? true),
    status: binding.status ?? 200,
    path,
    headers,
    fromText: new Set([...path, ...query, ...headers].map(({ field }) => field)),
    answerHeaders: Object.entries(binding.headers ?? {}).map(([name, { value }]) => ({ name, value })),
    query,
    parameters: [...query.map(({ name }) => name), ...parameters],
    ...(withBody && {
      body: binding.body === undefined ? { fields: [...fields, ...aliases] } : { whole: binding.body },
    }),
  }
}

// Computed on first use, because hashing a schema is slow.
function formOf(name: string, response: z.ZodType, key: string | undefined, facts: z.ZodObject): View['form'] {
  const plain = once(() => `${name}.${shapeHash(response)}`)
  const wrapped = once((envelope: EnvelopeForm) => {
    const data = key === undefined ? response : z.object({ [key]: response })
    return `${name}.${shapeHash(envelope.schema(data, facts.shape))}-envelope`
  })
  return (envelope) => (envelope === undefined ? plain() : wrapped(envelope))
}

function inputAt(name: string, { optional = [], fields }: Binding, { input }: Procedure): z.ZodType {
  if (fields !== undefined) return (input as z.ZodObject).safeExtend(fields)
  if (optional.length === 0) return input
  try {
    const { shape } = input as z.ZodObject
    const fields = optional.map((field) => [field, (shape[field] as z.ZodType).optional()])
    return (input as z.ZodObject).extend(Object.fromEntries(fields))
  } catch (cause) {
    throw new Error(`${name}: "optional" needs an input that is a plain object, without refinements`, { cause })
  }
}

/** The body fields of a binding if all of them are optional, so that any subset is valid; otherwise undefined. */
export function subsetFields({ body, input }: ResolvedBinding): string[] | undefined {
  if (body === undefined || 'whole' in body) return undefined
  const shape = shapeOf(input)
  const fields = [...new Set(body.fields.map(({ field }) => field))]
  const isSubset = fields.length > 0 && fields.every((field) => isOptional(shape[field] as z.ZodType))
  return isSubset ? fields : undefined
}

function shownFields(response: z.ZodType, versionField: string | undefined): readonly string[] | undefined {
  const { core, element } = factsOf(response)
  const record = element === undefined ? core : factsOf(element).core
  if (!(record instanceof z.ZodObject)) return undefined
  return [...Object.keys(record.shape), ...(versionField === undefined ? [] : [versionField])]
}

function otherFields(responseBody: string | undefined, output: z.ZodType): z.ZodObject {
  if (responseBody === undefined) return z.object({})
  const { [responseBody]: _, ...facts } = shapeOf(output)
  return z.object(facts)
}

function once<Args extends unknown[], T>(make: (...args: Args) => T): (...args: Args) => T {
  let made: T | undefined
  return (...args) => {
    made ??= make(...args)
    return made
  }
}
