import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Answer, Sent } from './serve.ts'
import { skyDocument } from './sky.ts'

/** An OpenAPI document, with what checks answers by its schemas. */
class Checked {
  // biome-ignore lint/suspicious/noExplicitAny: a parsed document of any shape
  readonly document: any
  readonly paths: { path: string; pattern: RegExp }[]
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(form: 'plain' | 'envelope') {
    this.document = JSON.parse(JSON.stringify(skyDocument(form)))
    this.paths = Object.keys(this.document.paths)
      .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`) }))
      .sort((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')))
    this.#ajv.addSchema({ $id: 'sky', components: this.document.components })
  }

  checkBody(where: string, schema: object | undefined, body: unknown): void {
    if (schema === undefined && body === undefined) return
    if (schema === undefined) throw new Error(`${where}: the document has no body here`)
    const text = JSON.stringify(schema).replaceAll('"#/components/', '"sky#/components/')
    const validate = this.#validators.get(text) ?? this.#ajv.compile(JSON.parse(text))
    this.#validators.set(text, validate)
    if (!validate(body)) throw new Error(`${where}: ${this.#ajv.errorsText(validate.errors)}`)
  }
}

const plain = new Checked('plain')
const envelope = new Checked('envelope')

/** The headers that Node and Express set. */
const TRANSPORT = ['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding']

/**
 * Checks a response against the OpenAPI document: status, headers and body. After a success, also checks the parameters
 * and the body of the request. Ignores paths and methods without an operation.
 *
 * @throws Error that describes the first difference
 */
export function checkExchange(method: string, target: string, sent: Sent['raw'], answer: Answer): void {
  const query = new URLSearchParams(target.split('?').slice(1).join('?'))
  const checked = query.getAll('envelope').includes('true') ? envelope : plain
  const operation = operationOf(method, target, checked)
  if (operation === undefined) return
  const where = `${method} ${target.slice(0, 100)} -> ${answer.status}`
  const response = resolve(operation.responses[answer.status], checked)
  if (response === undefined) throw new Error(`${where}: no such status in the document`)
  const documented = Object.entries<{ required?: boolean }>(response.headers ?? {})
  const names = documented.map(([name]) => name.toLowerCase())
  const extra = Object.keys(answer.headers).find((name) => !TRANSPORT.includes(name) && !names.includes(name))
  if (extra !== undefined) throw new Error(`${where}: the header ${extra} is not in the document`)
  const absent = documented.find(([name, { required }]) => required && !(name.toLowerCase() in answer.headers))
  if (absent !== undefined) throw new Error(`${where}: the header ${absent[0]} is missing`)
  if (method !== 'HEAD')
    checked.checkBody(where, isProblem(answer) ? PROBLEM : response.content?.['application/json']?.schema, answer.body)
  if (answer.status >= 300) return
  const known = operation.parameters.map(({ name }: { name: string }) => name)
  for (const name of new URLSearchParams(/\?(.*)/.exec(target)?.[1]).keys()) {
    // Each document describes one value of it.
    if (!known.includes(name) && name !== 'envelope')
      throw new Error(`${where}: the parameter ${name} is not in the document`)
  }
  if (operation.requestBody !== undefined && typeof sent === 'string') {
    checked.checkBody(`${where} (request)`, operation.requestBody.content['application/json'].schema, JSON.parse(sent))
  }
}

// biome-ignore lint/suspicious/noExplicitAny: see above
function resolve(response: any, { document }: Checked) {
  return response?.$ref === undefined ? response : document.components.responses[response.$ref.split('/').at(-1)]
}

function operationOf(method: string, target: string, { document, paths }: Checked) {
  let path: string
  try {
    path = decodeURI(target.replace(/^\w+:\/\/[^/]*/, '').replace(/[?#].*$/s, ''))
  } catch {
    return undefined
  }
  const exact = paths.find(({ pattern }) => pattern.test(path))
  const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`
  // Only the planets' own paths tell the two endings apart.
  const place =
    exact ?? paths.find(({ path, pattern }) => !/^\/planets(\/\{id\})?\/?$/.test(path) && pattern.test(other))
  return place && document.paths[place.path][(method === 'HEAD' ? 'GET' : method).toLowerCase()]
}

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

function isProblem({ headers }: Answer): boolean {
  return headers['content-type'] === 'application/problem+json'
}
