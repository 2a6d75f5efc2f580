import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { createDocument } from '../src/document.ts'
import type { Answer } from './harness.ts'

/** An OpenAPI document, with what checks answers by its schemas. */
class Checked {
  // biome-ignore lint/suspicious/noExplicitAny: a parsed document of any shape
  readonly document: any
  readonly paths: { path: string; pattern: RegExp }[]
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true })
  readonly #validators = new Map<string, ValidateFunction>()

  /** @param isWhole whether answers have all fields, which callers can pick */
  constructor(form: 'plain' | 'envelope', isWhole = true) {
    const text = JSON.stringify(createDocument(form))
    this.document = JSON.parse(text, (name, value) =>
      name === 'required' && Array.isArray(value) && !isWhole ? [] : value,
    )
    this.paths = Object.keys(this.document.paths).map((path) => ({ path, pattern: patternOf(path) }))
    addFormats.default(this.#ajv)
    this.#ajv.addSchema({ $id: 'api', components: this.document.components })
  }

  check(where: string, schema: object, body: unknown): void {
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')
    const validate = this.#validators.get(text) ?? this.#ajv.compile(JSON.parse(text))
    this.#validators.set(text, validate)
    if (!validate(body)) {
      throw new Error(`${where}: ${this.#ajv.errorsText(validate.errors)} in ${JSON.stringify(body).slice(0, 500)}`)
    }
  }
}

const plain = new Checked('plain')
const whole = { plain, envelope: new Checked('envelope') }
const picked = { plain: new Checked('plain', false), envelope: new Checked('envelope', false) }

/**
 * Checks a response against the OpenAPI document: the operation lists its status, its required headers are present, the
 * document lists each of its API headers, and its body matches the schema. A response of no operation (unknown path,
 * wrong method) must have one of the three error forms. Of tRPC responses, only problem documents are checked.
 *
 * @throws Error that describes the difference
 */
export function checkAnswer(method: string, path: string, { status, headers, body }: Answer): void {
  const where = `${method} ${path} -> ${status}`
  // By the first of several, as the service does where it answers 400.
  const form = /^[^?]*\?(?:.*&)?envelope=true(?:&|$)/.test(path) ? 'envelope' : 'plain'
  const checked = (status === 200 && /[?&]fields=/.test(path) ? picked : whole)[form]
  const { document } = checked
  const operation = operationOf(method, path, checked)
  const isProblem = headers.get('content-type') === 'application/problem+json'
  if (operation === undefined) {
    if (path.startsWith('/trpc/') && !isProblem) return
    if (body !== undefined && status >= 400) plain.check(`${where} (error form)`, ERROR_FORM, body)
    return
  }
  const found = operation.responses[status]
  if (found === undefined) throw new Error(`${where}: the document does not list this status`)
  const response = found.$ref === undefined ? found : document.components.responses[found.$ref.split('/').at(-1)]
  for (const [name, header] of Object.entries<{ required?: boolean }>(response.headers ?? {})) {
    if (header.required && !headers.has(name)) throw new Error(`${where}: the header ${name} is missing`)
  }
  for (const name of API_HEADERS) {
    if (headers.has(name) && response.headers?.[name] === undefined) {
      throw new Error(`${where}: the document does not list the header ${name}`)
    }
  }
  const schema = isProblem ? PROBLEM : response.content?.['application/json']?.schema
  if (method === 'HEAD') return
  if (schema === undefined) {
    if (body !== undefined) throw new Error(`${where}: the document describes no body`)
  } else if (body === undefined) {
    throw new Error(`${where}: the body is missing`)
  } else checked.check(where, schema, body)
}

const API_HEADERS = ['ETag', 'Link', 'Location', 'Retry-After', 'X-Total-Count', 'X-Request-Id']

// Not in the document: a second form of each error would make every generated error type a union.
const PROBLEM = {
  type: 'object',
  properties: {
    type: { const: 'about:blank' },
    status: { type: 'integer' },
    code: { type: 'string' },
    detail: { type: 'string' },
    fields: {
      type: 'array',
      items: {
        type: 'object',
        properties: { field: { type: 'string' }, message: { type: 'string' } },
        required: ['field', 'message'],
        additionalProperties: false,
      },
    },
    data: {},
  },
  required: ['type', 'status', 'code', 'detail', 'fields'],
  additionalProperties: false,
}

const ERROR_FORM = {
  anyOf: [
    PROBLEM,
    ...['ErrorField', 'ErrorMessage', 'ErrorEnvelope'].map((name) => ({ $ref: `#/components/schemas/${name}` })),
  ],
}

function operationOf(method: string, path: string, { document, paths }: Checked) {
  const bare = decoded(path.replace(/\?.*$/s, ''))
  const other = bare.endsWith('/') ? bare.slice(0, -1) : `${bare}/`
  const name = (method === 'HEAD' ? 'GET' : method).toLowerCase()
  const found = paths.filter(({ path, pattern }) => pattern.test(bare) || (!isStrict(path) && pattern.test(other)))
  // `/api/users/bulk` also matches `/api/users/{id}`; the path without a parameter wins.
  const place = found.find(({ path }) => !path.includes('{')) ?? found[0]
  return place && document.paths[place.path][name]
}

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

// Trailing slashes are significant only under these paths (API rule C1).
function isStrict(path: string): boolean {
  return /^\/api\/users\/?(\{id\}\/?)?$/.test(path)
}

function patternOf(path: string): RegExp {
  const source = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${source}$`)
}
