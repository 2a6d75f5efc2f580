import { z } from 'zod'
import type { ZodOpenApiOperationObject } from 'zod-openapi'
import type { ResolvedBinding, Source, TextSource } from './bindings.ts'
import { accepts, PREFER } from './document-headers.ts'
import { INCLUDE } from './included.ts'
import { isOptional } from './parser.ts'
import { FIELDS } from './picked-fields.ts'
import { objectsIn, shapeOf } from './schema.ts'

const ENVELOPE = z
  .literal(true)
  .meta({ description: 'Wraps the response, including errors, in the standard envelope `{ status, data, meta }`.' })

/** @param others further header parameters */
export function parameters(
  resolved: ResolvedBinding,
  tag: string,
  isPlain: boolean,
  others: Record<string, z.ZodType>,
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
    ...others,
    ...(binding.etag && binding.method === 'GET' && { 'If-None-Match': ifNoneMatch }),
  }
  return {
    path: z.object(named(resolved.path)),
    query: z.object({
      ...named(resolved.query, true),
      ...(resolved.picker && { [FIELDS]: resolved.picker.schema }),
      ...(resolved.includer && { [INCLUDE]: resolved.includer.schema }),
      ...(!isPlain && { envelope: ENVELOPE }),
    }),
    header: z.object(header),
  }
}

export function isEmpty(body: NonNullable<ResolvedBinding['body']>): boolean {
  return 'fields' in body && body.fields.length === 0
}

// A body can have an aliased field under either key, so neither key is required by itself.
export function bodySchema(resolved: ResolvedBinding, fields: Source[]): z.ZodType {
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

export function upper(name: string): string {
  return name.replace(/^./, (letter) => letter.toUpperCase())
}
