import type { Request, RequestHandler } from 'express'
import { proxySign } from '../access/proxy-sign.ts'
import { remembered } from '../process/once-loaded.ts'

/** The OpenAPI documents that the service offers, by path. */
export const DOCUMENTS = {
  '/openapi.json': 'plain',
  '/openapi-envelope.json': 'envelope',
  '/openapi-3.0.json': 'plain-3.0',
} as const

type Form = (typeof DOCUMENTS)[keyof typeof DOCUMENTS]

/** Answers with an OpenAPI document that names the address at which the caller has reached the service. */
export function servedDocument(form: Form): RequestHandler {
  return async (req, res) => {
    const document = await documents.get(form)?.()
    res.type('json').send(JSON.stringify({ ...document, servers: [{ url: addressOf(req) }] }))
  }
}

/**
 * The address without a path. Relative if a proxy does not say whether it speaks TLS: with `http://` generated clients would
 * send their keys in clear text, and browsers refuse the requests of `/docs`.
 */
function addressOf(req: Request): string {
  const host = req.get('host')
  const { socket, app } = req
  const trusts = app.get('trust proxy fn') as (address: string | undefined, hop: number) => boolean
  const isKnown =
    proxySign(req) === undefined || (trusts(socket.remoteAddress, 0) && req.get('x-forwarded-proto') !== undefined)
  return host !== undefined && isKnown ? `${req.protocol}://${host}` : '/'
}

/** The OpenAPI documents, made at the first request: what makes them is large, and most processes never need it. */
const documents = new Map(Object.values(DOCUMENTS).map((form) => [form, remembered(() => make(form))]))

async function make(form: Form): Promise<object> {
  const { createDocument } = await import('../document.ts')
  if (form !== 'plain-3.0') return createDocument(form)
  return openApi30(createDocument())
}

/** The document in OpenAPI 3.0. */
export async function openApi30(document: object): Promise<object> {
  const { Converter } = await import('@apiture/openapi-down-convert')
  // The converter changes what it is given. In 3.0 a reference has no further keywords; `allOf` keeps them.
  const converted = new Converter(structuredClone(document), { allOfTransform: true }).convert() as Document
  splitTypes(converted, converted.components?.schemas ?? {})
  return converted
}

interface Schema {
  type?: unknown
  anyOf?: Schema[]
  enum?: unknown[]
  $ref?: string
}
type Schemas = Record<string, Schema>
type Document = { components?: { schemas?: Schemas } }

/**
 * Writes what the converter keeps of OpenAPI 3.1 and 3.0 does not have: a list of types becomes `anyOf`, and a null among
 * the options of `anyOf` makes the others `nullable`, because in 3.0 that extends only a type in the same schema.
 */
function splitTypes(node: unknown, schemas: Schemas): void {
  if (typeof node !== 'object' || node === null) return
  const schema = node as Schema
  if (Array.isArray(schema.type) && schema.type.every((type) => typeof type === 'string')) {
    schema.anyOf = schema.type.map((type) => ({ type }))
    delete schema.type
  }
  if (Array.isArray(schema.anyOf) && schema.anyOf.some(isNull)) {
    schema.anyOf = schema.anyOf.filter((option) => !isNull(option)).map((option) => nullable(option, schemas))
  }
  for (const child of Object.values(node)) splitTypes(child, schemas)
}

function nullable(option: Schema, schemas: Schemas): object {
  const schema = schemas[option.$ref?.split('/').at(-1) ?? ''] ?? option
  return { ...schema, ...(schema.enum && { enum: [...schema.enum, null] }), nullable: true }
}

function isNull(schema: Schema): boolean {
  return schema.type === 'null'
}
