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

  constructor(form: 'plain' | 'envelope') {
    this.document = JSON.parse(JSON.stringify(createDocument(form)))
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
const envelope = new Checked('envelope')

/**
 * Checks an answer against the OpenAPI document: its status is one the operation names, its required headers are there
 * and no header of the document's making is there unnamed, its body is of the named schema. What no operation answers
 * (unknown paths, wrong methods) must be one of the three error forms; tRPC has a form of its own.
 *
 * @throws Error that says what differs
 */
export function checkAnswer(method: string, path: string, { status, headers, body }: Answer): void {
  const where = `${method} ${path} -> ${status}`
  // By the first of several, as the service does where it answers 400.
  const checked = /^[^?]*\?(?:.*&)?envelope=true(?:&|$)/.test(path) ? envelope : plain
  const { document } = checked
  const operation = operationOf(method, path, checked)
  if (operation === undefined) {
    if (path.startsWith('/trpc/')) return
    if (body !== undefined && status >= 400) plain.check(`${where} (error form)`, ERROR_FORM, body)
    return
  }
  const found = operation.responses[status]
  if (found === undefined) throw new Error(`${where}: the document has no such status`)
  const response = found.$ref === undefined ? found : document.components.responses[found.$ref.split('/').at(-1)]
  for (const [name, header] of Object.entries<{ required?: boolean }>(response.headers ?? {})) {
    if (header.required && !headers.has(name)) throw new Error(`${where}: the header ${name} is missing`)
  }
  for (const name of CHOSEN_HEADERS) {
    if (headers.has(name) && response.headers?.[name] === undefined) {
      throw new Error(`${where}: the document does not name the header ${name}`)
    }
  }
  const schema = response.content?.['application/json']?.schema
  if (method === 'HEAD') return
  if (schema === undefined) {
    if (body !== undefined) throw new Error(`${where}: the document has no body here`)
  } else if (body === undefined) {
    throw new Error(`${where}: the body is missing`)
  } else checked.check(where, schema, body)
}

const CHOSEN_HEADERS = ['ETag', 'Link', 'Location', 'Retry-After', 'X-Total-Count', 'X-Request-Id']

const ERROR_FORM = {
  anyOf: ['ErrorField', 'ErrorMessage', 'ErrorEnvelope'].map((name) => ({ $ref: `#/components/schemas/${name}` })),
}

function operationOf(method: string, path: string, { document, paths }: Checked) {
  const bare = decoded(path.replace(/\?.*$/s, ''))
  const other = bare.endsWith('/') ? bare.slice(0, -1) : `${bare}/`
  const name = (method === 'HEAD' ? 'GET' : method).toLowerCase()
  const found = paths.filter(({ path, pattern }) => pattern.test(bare) || (!isStrict(path) && pattern.test(other)))
  // `/api/users/bulk` is a place of its own, though `/api/users/{id}` fits it too.
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

// Only these paths tell the two slash forms apart (decisions: one collection, three doors).
function isStrict(path: string): boolean {
  return /^\/api\/users\/?(\{id\}\/?)?$/.test(path)
}

function patternOf(path: string): RegExp {
  const source = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${source}$`)
}
