import { z } from 'zod'
import type { ZodOpenApiOperationObject, ZodOpenApiResponseObject } from 'zod-openapi'
import type { ResolvedBinding, Source } from './bindings.ts'
import type { EnvelopeForm, ErrorForm } from './contract.ts'
import { ERROR_HEADERS, entityTag, etag } from './document-headers.ts'
import { bodySchema, isEmpty, parameters, upper } from './document-inputs.ts'
import { shapeOf } from './schema.ts'

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
  /**
   * What the server adds to every operation: response headers by name and error statuses; and to writes: headers of successful
   * responses, header parameters, and error statuses.
   */
  everywhere?: {
    headers?: Record<string, z.ZodType>
    errors?: number[]
    writeHeaders?: Record<string, z.ZodType>
    writeParameters?: Record<string, z.ZodType>
    writeErrors?: number[]
  }
}

export const BEARER = 'bearer'

const DESCRIPTIONS: Record<number, string> = {
  400: 'Invalid or malformed request; the message names each invalid field and what is allowed.',
  401: 'The credentials are missing, invalid, expired or revoked.',
  403: "The caller's role does not allow it.",
  404: 'The resource does not exist.',
  406: '`Accept` excludes JSON.',
  409: 'The request conflicts with stored data; nothing was changed.',
  410: 'What the request continues no longer exists.',
  412: 'A condition of the request does not hold, such as the version in `If-Match`; nothing was changed.',
  413: 'The body is too large.',
  415: 'The media type of the body is not JSON.',
  431: 'The head of the request is too large.',
  429: 'Too many requests; retry after the seconds in `Retry-After`.',
  500: 'Internal error; the message contains the id of the request.',
  503: 'The service is unavailable; retry after the seconds in `Retry-After`.',
}

export function operations({
  envelope = BARE,
  everywhere: {
    headers: common = {},
    errors: always = [],
    writeHeaders = {},
    writeParameters = {},
    writeErrors = [],
  } = {},
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
  const enveloped = ({ binding, facts, status }: ResolvedBinding, response: z.ZodType): z.ZodType => {
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
      ...Object.fromEntries(
        Object.entries(binding.headers ?? {}).map(([name, { schema = z.string(), description }]) => [
          name,
          schema.optional().meta({ description }),
        ]),
      ),
    }
    const isWrite = procedure.type === 'mutation'
    const tagged = { ...headers, ...(isWrite && writeHeaders), ...(withTag && { ETag: etag(tag) }) }
    const statuses = [
      ...new Set([
        ...[400, 401, 403, 406, 500, ...always, ...(isWrite ? writeErrors : []), ...(procedure.errors ?? [])],
        ...Object.keys(procedure.errorData ?? {}).map(Number),
        ...(resolved.body ? [413, 415] : []),
        ...(binding.parents ? [404] : []),
        ...(binding.ifMatch ? [412] : []),
      ]),
    ].sort()
    const json = (schema: z.ZodType) => ({ content: { 'application/json': { schema } } })
    const { stream } = binding
    const streamed = stream && {
      [stream.mediaType]: { schema: z.string().meta({ description: stream.description }), example: stream.example },
    }
    const description = [binding.successDescription ?? 'Success.', resolved.picker && PICKED].filter(Boolean).join(' ')
    const response = resolved.includer?.response ?? resolved.response
    const success = isPlain ? response : enveloped(resolved, response)
    return {
      operationId: binding.operationId as string,
      summary: binding.summary as string,
      description: [binding.description, access && `Needs the role \`${access}\`.`].filter(Boolean).join(' '),
      tags: [binding.tag?.name ?? resource.tag],
      security: [{ [BEARER]: [] }],
      ...(access && { 'x-role': access }),
      ...(binding.deprecated && { deprecated: true }),
      requestParams: parameters(resolved, tag, isPlain, isWrite ? writeParameters : {}),
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
          : {
              [status === 204 ? 200 : status]: {
                description,
                headers: z.object(tagged),
                content: { ...json(success).content, ...streamed },
              },
            }),
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

// A schema for answers with `fields` would make every member optional in generated clients, which seldom pick fields.
const PICKED = 'With `fields`, records have only these, and lack others that their schema requires.'

/** Without an envelope, no response has one. */
const BARE: EnvelopeForm = {
  schema: (data) => data,
  success: (data) => data,
  error: { schema: z.unknown(), body: () => undefined },
}

// zod-openapi identifies components by object identity, so a named schema must be created once.
function once<T>(): (key: string, make: () => T) => T {
  const made = new Map<string, T>()
  return (key, make) => {
    const value = made.get(key) ?? make()
    made.set(key, value)
    return value
  }
}
