import { initTRPC } from '@trpc/server'
import { generateOpenApiDocument, type OpenAPIObject, type OpenApiMeta } from 'trpc-openapi'
import { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject, ZodOpenApiResponseObject } from 'zod-openapi'
import { PARAMETER, type ResolvedBinding, resolveBindings, type Source, type TextSource } from './bindings.ts'
import type { Contract, EnvelopeForm, ErrorForm, Tag } from './contract.ts'
import { objectsIn, shapeOf } from './schema.ts'
import { isOptional } from './validate.ts'

export interface DocumentOptions {
  /** Which responses it describes: plain ones, or those of requests with `envelope=true`. Default: `plain`. */
  form?: 'plain' | 'envelope'
  title: string
  version: string
  description?: string
  contact?: { name: string }
  license?: { name: string; identifier: string }
  /** Describes the credentials in `Authorization: Bearer`. */
  credentials?: string
  /** An example of `WWW-Authenticate`. Default: `Bearer`. */
  challenge?: string
  envelope?: EnvelopeForm
  /** What the server adds to every operation: response headers by name, those of successful writes, and error statuses. */
  everywhere?: { headers?: Record<string, z.ZodType>; writeHeaders?: Record<string, z.ZodType>; errors?: number[] }
}

/** Creates the OpenAPI 3.1 document of a contract: every binding with its input and its possible statuses. */
export function openApiDocument(contract: Contract, options: DocumentOptions): OpenAPIObject {
  const paths: ZodOpenApiPathsObject = {}
  const describe = operations(options)
  const templates = new Map<string, string>()
  for (const resolved of resolveBindings(contract)) {
    const { path, method } = resolved.binding
    const shape = path.replace(PARAMETER, '{}')
    // In OpenAPI, paths that differ only in parameter names are the same path: the first binding sets the names.
    const template = templates.get(shape) ?? path
    templates.set(shape, template)
    const names = [...template.matchAll(PARAMETER)].map(([, name = '']) => name)
    const named = resolved.path.map((source, index) => ({ ...source, name: names[index] as string }))
    paths[template] = { ...paths[template], [method.toLowerCase()]: describe({ ...resolved, path: named }) }
  }
  const { title, version, description, contact, license, credentials } = options
  // The router is empty, because trpc-openapi derives one path per procedure, and these procedures have several.
  const document = generateOpenApiDocument(initTRPC.meta<OpenApiMeta>().create().router({}), {
    title,
    version,
    ...(description && { description }),
    ...(contact && { contact }),
    ...(license && { license }),
    baseUrl: '/',
    securitySchemes: { [BEARER]: { type: 'http', scheme: 'bearer', ...(credentials && { description: credentials }) } },
    paths,
  })
  document.tags = tagsOf(contract)
  document.security = []
  // No path is internal.
  document.servers = [{ url: '/', 'x-internal': false }]
  simplify(document)
  return document
}

function tagsOf(contract: Contract): Tag[] {
  const tags = new Map<string, Tag>()
  // Pages show tags in this order, so those of one resource are adjacent.
  for (const { binding, resource } of resolveBindings(contract)) {
    tags.set(resource.tag, { name: resource.tag, description: resource.description })
    if (binding.tag !== undefined) tags.set(binding.tag.name, binding.tag)
  }
  return [...tags.values()]
}

const BEARER = 'bearer'

const DESCRIPTIONS: Record<number, string> = {
  400: 'Invalid or malformed request; the message names each invalid field and what is allowed.',
  401: 'The credentials are missing, invalid, expired or revoked.',
  403: "The caller's role does not allow it.",
  404: 'The resource does not exist.',
  406: '`Accept` excludes JSON.',
  409: 'The request conflicts with stored data; nothing was changed.',
  412: 'The record does not have the version in `If-Match`; nothing was changed.',
  413: 'The body is too large.',
  415: 'The media type of the body is not JSON.',
  431: 'The head of the request is too large.',
  429: 'Too many requests; retry after the seconds in `Retry-After`.',
  500: 'Internal error; the message contains the id of the request.',
  503: 'The service is unavailable; retry after the seconds in `Retry-After`.',
}

function operations({
  envelope = BARE,
  everywhere: { headers: common = {}, writeHeaders = {}, errors: always = [] } = {},
  challenge = 'Bearer',
  form = 'plain',
}: DocumentOptions): (resolved: ResolvedBinding) => ZodOpenApiOperationObject {
  const isPlain = form === 'plain'
  const example = z.string().meta({ description: 'How to authenticate.', examples: [challenge] })
  const errorHeaders: typeof ERROR_HEADERS = { ...ERROR_HEADERS, 401: { 'WWW-Authenticate': example } }
  const bodies = once<z.ZodType>()
  const errors = once<ZodOpenApiResponseObject>()
  const error = (resource: ErrorForm, status: number, data: z.ZodType | undefined) => {
    const form = isPlain ? resource : envelope.error
    const schema = (data && form.withData?.(data)) ?? form.schema
    const name = schema.meta()?.id
    const id = name && `${name}${status}`
    const make = (): ZodOpenApiResponseObject => ({
      ...(id && { id }),
      description: DESCRIPTIONS[status] ?? 'Error.',
      headers: z.object({ ...common, ...errorHeaders[status] }),
      content: { 'application/json': { schema } },
    })
    // Only a named form can be a shared component.
    return id ? errors(id, make) : make()
  }
  const body = (resolved: ResolvedBinding, fields: Source[]) =>
    bodies(`${resolved.name} ${fields.map(({ name }) => name)} ${resolved.binding.optional ?? []}`, () =>
      bodySchema(resolved, fields),
    )
  const enveloped = ({ binding, response, facts, status }: ResolvedBinding): z.ZodType => {
    const name = upper(binding.operationId as string)
    const data = binding.envelope === undefined ? response : z.object({ [binding.envelope]: response })
    const named = data.meta()?.id === undefined ? data.meta({ id: `${name}Data` }) : data
    const schema = status === 204 ? envelope.schema(z.object({}), {}) : envelope.schema(named, facts.shape)
    return schema.meta({ ...schema.meta(), id: `${name}Envelope` })
  }

  return (resolved) => {
    const { binding, procedure, resource, status } = resolved
    const { access } = procedure
    const withTag = binding.etag !== undefined
    const tag = entityTag(resolved)
    const headers = {
      ...common,
      ...mapValues(binding.headers ?? {}, ({ schema = z.string(), description }) =>
        schema.optional().meta({ description }),
      ),
    }
    const ofWrite = procedure.type === 'mutation' ? writeHeaders : {}
    const tagged = { ...headers, ...ofWrite, ...(withTag && { ETag: etag(tag) }) }
    const statuses = [
      ...new Set([
        ...[400, 401, 403, 406, 500, ...always, ...(procedure.errors ?? [])],
        ...Object.keys(procedure.errorData ?? {}).map(Number),
        ...(resolved.body ? [413, 415] : []),
        ...(binding.ifMatch ? [412] : []),
      ]),
    ].sort()
    const json = (schema: z.ZodType) => ({ content: { 'application/json': { schema } } })
    const description = binding.successDescription ?? 'Success.'
    const success = isPlain ? resolved.response : enveloped(resolved)
    return {
      operationId: binding.operationId as string,
      summary: binding.summary as string,
      description: [binding.description, access && `Needs the role \`${access}\`.`].filter(Boolean).join(' '),
      tags: [binding.tag?.name ?? resource.tag],
      security: [{ [BEARER]: [] }],
      ...(access && { 'x-role': access }),
      ...(binding.deprecated && { deprecated: true }),
      requestParams: parameters(resolved, tag, isPlain),
      ...(resolved.body &&
        !isEmpty(resolved.body) && {
          requestBody: {
            required: true,
            ...json(
              'whole' in resolved.body
                ? (shapeOf(procedure.input)[resolved.body.whole] as z.ZodType)
                : body(resolved, resolved.body.fields),
            ),
          },
        }),
      responses: {
        ...(status === 204 && isPlain
          ? { 204: { description, headers: z.object(tagged) } }
          : { [status === 204 ? 200 : status]: { description, headers: z.object(tagged), ...json(success) } }),
        ...(withTag &&
          binding.method === 'GET' && {
            304: { description: 'Unchanged since the `ETag` in `If-None-Match`.', headers: z.object(tagged) },
          }),
        ...Object.fromEntries(
          statuses.map((code) => [code, error(resource.errorForm, code, procedure.errorData?.[code])]),
        ),
      },
    }
  }
}

/** An example of the binding's `ETag`: `"3-User.5b1f0c"`. */
function entityTag({ response }: ResolvedBinding): string {
  return `"3-${response.meta()?.id ?? 'Record'}.5b1f0c"`
}

const etag = (example: string) =>
  z
    .string()
    .meta({ description: 'The version of the record and the shape of the response, quoted.', examples: [example] })
const RETRY_AFTER = z
  .string()
  .regex(/^\d+$/)
  .meta({ description: 'Seconds to wait.', examples: ['1'] })
const accepts = (description: string, value: string) =>
  z
    .string()
    .optional()
    .meta({ description, examples: [value] })
const ERROR_HEADERS: Record<number, Record<string, z.ZodType>> = {
  415: {
    Accept: accepts('The media type a body must have.', 'application/json'),
    'Accept-Encoding': accepts('The encoding a body must have.', 'identity'),
  },
  429: { 'Retry-After': RETRY_AFTER },
  503: { 'Retry-After': RETRY_AFTER },
}
const PREFER = accepts(
  '`handling=strict` rejects unknown fields of the body with a 400; by default they are ignored.',
  'handling=strict',
)
const ENVELOPE = z
  .literal(true)
  .meta({ description: 'Wraps the response, including errors, in the standard envelope `{ status, data, meta }`.' })

/** Without an envelope, no response has one. */
const BARE: EnvelopeForm = {
  schema: (data) => data,
  success: (data) => data,
  error: { schema: z.unknown(), body: () => undefined },
}

function parameters(
  resolved: ResolvedBinding,
  tag: string,
  isPlain: boolean,
): NonNullable<ZodOpenApiOperationObject['requestParams']> {
  const { binding } = resolved
  const shape = shapeOf(resolved.input)
  const named = (sources: TextSource[], isInQuery = false) =>
    Object.fromEntries(
      sources.map(({ name, field, isList, isRepeated }) => {
        const schema = shape[field] as z.ZodType
        const param = { style: 'form', explode: false } as const
        return [name, isInQuery && isList && !isRepeated ? schema.meta({ ...schema.meta(), param }) : schema]
      }),
    )
  const ifMatch = z
    .string()
    .regex(/^(\*|(W\/)?"[!#-~]*"(\s*,\s*(W\/)?"[!#-~]*")*)$/)
    .optional()
    .meta({
      description:
        'Writes only if the record still has the version of this `ETag`; otherwise 412. A weak tag never matches.',
      examples: [tag],
    })
  const ifNoneMatch = accepts('Returns 304 without a body if the record still has this `ETag`.', tag)
  const header = {
    ...named(resolved.headers),
    ...(resolved.body && !isEmpty(resolved.body) && { Prefer: PREFER }),
    ...(binding.ifMatch && { 'If-Match': ifMatch }),
    ...(binding.etag && binding.method === 'GET' && { 'If-None-Match': ifNoneMatch }),
  }
  return {
    path: z.object(named(resolved.path)),
    query: z.object({ ...named(resolved.query, true), ...(!isPlain && { envelope: ENVELOPE }) }),
    header: z.object(header),
  }
}

function isEmpty(body: NonNullable<ResolvedBinding['body']>): boolean {
  return 'fields' in body && body.fields.length === 0
}

// A body can have an aliased field under either key, so neither key is required by itself.
function bodySchema(resolved: ResolvedBinding, fields: Source[]): z.ZodType {
  const id = `${upper(resolved.binding.operationId as string)}Body`
  const [first, ...others] = objectsIn(resolved.input).map(({ shape }) => {
    const own = fields.filter(({ field }) => Object.hasOwn(shape, field))
    return bodyOf(resolved, own, shape as Record<string, z.ZodType>)
  })
  if (others.length === 0) return (first as z.ZodType).meta({ ...first?.meta(), id })
  return z.union([first as z.ZodType, ...others]).meta({ id })
}

function bodyOf(resolved: ResolvedBinding, fields: Source[], shape: Record<string, z.ZodType>): z.ZodType {
  const aliased = new Set(Object.values(resolved.binding.aliases ?? {}))
  const entries = fields.map(({ name, field }): [string, z.ZodType] => {
    const schema = shape[field] as z.ZodType
    return [name, aliased.has(field) ? schema.optional() : schema]
  })
  const required = [...aliased].filter((field) => field in shape && !isOptional(shape[field] as z.ZodType))
  const eitherKey = required.map((field) => ({
    anyOf: fields.filter((source) => source.field === field).map(({ name }) => ({ required: [name] })),
  }))
  return z.object(Object.fromEntries(entries)).meta({
    ...(eitherKey.length > 0 && { override: ({ jsonSchema }) => void Object.assign(jsonSchema, { allOf: eitherKey }) }),
  })
}

// zod-openapi identifies components by object identity, so a named schema must be created once.
function once<T>(): (key: string, make: () => T) => T {
  const made = new Map<string, T>()
  return (key, make) => {
    const known = made.get(key)
    if (known !== undefined) return known
    const fresh = make()
    made.set(key, fresh)
    return fresh
  }
}

function upper(name: string): string {
  return name.replace(/^./, (letter) => letter.toUpperCase())
}

function mapValues<T, U>(record: Record<string, T>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))
}

const LARGEST_32 = 2 ** 31 - 1

interface WholeNumber {
  type: 'integer' | string[]
  format?: string
  minimum?: number
  maximum?: number
}

interface JsonSchema {
  type?: string | string[]
  format?: string
  pattern?: string
  anyOf?: JsonSchema[]
}

/**
 * Rewrites the schemas of a document for code generators: a nullable value as `type: [integer, "null"]`, a date without a
 * pattern, and each number with its format: `int32`, `int64` or `double`. For a number without a format, openapi-generator
 * and oapi-codegen for Go declare a 32-bit float, which loses digits.
 */
function simplify(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  const schema = node as JsonSchema
  if (Array.isArray(schema.anyOf)) mergeNull(schema, schema.anyOf)
  if (schema.format === 'date' || schema.format === 'date-time') delete schema.pattern
  if (isWholeNumber(node)) {
    const { minimum = -Infinity, maximum = Infinity } = node
    node.format ??= minimum >= -LARGEST_32 && maximum <= LARGEST_32 ? 'int32' : 'int64'
  } else if (hasType(node, 'number') && !hasType(node, 'string')) schema.format ??= 'double'
  for (const child of Object.values(node)) simplify(child)
}

function mergeNull(schema: JsonSchema, [value, empty, ...others]: JsonSchema[]): void {
  if (others.length > 0 || typeof value?.type !== 'string' || empty?.type !== 'null') return
  delete schema.anyOf
  Object.assign(schema, { ...value, ...schema, type: [value.type, 'null'] })
}

function isWholeNumber(node: object): node is WholeNumber {
  return hasType(node, 'integer')
}

function hasType(node: object, name: string): boolean {
  const { type } = node as { type?: unknown }
  return type === name || (Array.isArray(type) && type.includes(name))
}
