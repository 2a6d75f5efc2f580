import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Answer, Sent } from './serve.ts'
import { skyDocument } from './sky.ts'

// biome-ignore lint/suspicious/noExplicitAny: a parsed document of any shape
const document: any = JSON.parse(JSON.stringify(skyDocument()))
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
ajv.addSchema({ $id: 'sky', components: document.components })
const validators = new Map<string, ValidateFunction>()

/** The headers that Node and Express set. */
const TRANSPORT = ['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding']

/**
 * Checks a response against the OpenAPI document: status, headers and body. After a success, also checks the parameters
 * and the body of the request. Ignores paths and methods without an operation.
 *
 * @throws Error that describes the first difference
 */
export function checkExchange(method: string, target: string, sent: Sent['raw'], answer: Answer): void {
  const operation = operationOf(method, target)
  if (operation === undefined) return
  const where = `${method} ${target.slice(0, 100)} -> ${answer.status}`
  const response = resolve(operation.responses[answer.status])
  if (response === undefined) throw new Error(`${where}: no such status in the document`)
  const documented = Object.entries<{ required?: boolean }>(response.headers ?? {})
  const names = documented.map(([name]) => name.toLowerCase())
  const extra = Object.keys(answer.headers).find((name) => !TRANSPORT.includes(name) && !names.includes(name))
  if (extra !== undefined) throw new Error(`${where}: the header ${extra} is not in the document`)
  const absent = documented.find(([name, { required }]) => required && !(name.toLowerCase() in answer.headers))
  if (absent !== undefined) throw new Error(`${where}: the header ${absent[0]} is missing`)
  if (method !== 'HEAD') checkBody(where, response.content?.['application/json']?.schema, answer.body)
  if (answer.status >= 300) return
  const known = operation.parameters.map(({ name }: { name: string }) => name)
  for (const name of new URLSearchParams(/\?(.*)/.exec(target)?.[1]).keys()) {
    if (!known.includes(name)) throw new Error(`${where}: the parameter ${name} is not in the document`)
  }
  if (operation.requestBody !== undefined && typeof sent === 'string') {
    checkBody(`${where} (request)`, operation.requestBody.content['application/json'].schema, JSON.parse(sent))
  }
}

function checkBody(where: string, schema: object | undefined, body: unknown): void {
  if (schema === undefined && body === undefined) return
  if (schema === undefined) throw new Error(`${where}: the document has no body here`)
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"sky#/components/')
  const validate = validators.get(text) ?? ajv.compile(JSON.parse(text))
  validators.set(text, validate)
  if (!validate(body)) throw new Error(`${where}: ${ajv.errorsText(validate.errors)}`)
}

// biome-ignore lint/suspicious/noExplicitAny: see above
function resolve(response: any) {
  return response?.$ref === undefined ? response : document.components.responses[response.$ref.split('/').at(-1)]
}

const routes = Object.keys(document.paths)
  .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`) }))
  .sort((a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')))

function operationOf(method: string, target: string) {
  let path: string
  try {
    path = decodeURI(target.replace(/^\w+:\/\/[^/]*/, '').replace(/[?#].*$/s, ''))
  } catch {
    return undefined
  }
  const exact = routes.find(({ pattern }) => pattern.test(path))
  const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`
  // The trailing slash is significant only in the planets' paths.
  const route =
    exact ?? routes.find(({ path, pattern }) => !/^\/planets(\/\{id\})?\/?$/.test(path) && pattern.test(other))
  return route && document.paths[route.path][(method === 'HEAD' ? 'GET' : method).toLowerCase()]
}
