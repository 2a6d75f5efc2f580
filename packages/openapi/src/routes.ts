import findMyWay, { type HTTPMethod, type HTTPVersion, type Instance } from 'find-my-way'
import { ApiError } from './api-error.ts'
import { PARAMETER, type ResolvedBinding } from './bindings.ts'
import type { ErrorForm } from './contract.ts'
import type { Operation } from './implement.ts'
import type { Included } from './referenced-records.ts'
import { shapeOf } from './schema.ts'
import { or } from './words.ts'

interface Endpoint {
  resolved: ResolvedBinding
  operation: Operation<never>
  /** The name of its procedure. */
  procedures: readonly string[]
  parents: Parent[]
  references: Included[]
}

/** The query for a record that the path is under. */
export interface Parent {
  operation: Operation<never>
  /** Its input field for the id, and the input field of the path's procedure that has it. */
  field: string
  from: string
}

/** The methods of a path, each with its binding. */
interface RouteEntry {
  methods: Map<string, Endpoint>
  allow: string
}

/** A route entry and the decoded path parameters, in order. */
export interface RouteMatch<Entry = RouteEntry> {
  entry: Entry
  params: readonly string[]
}

type Router = Instance<HTTPVersion.V1>

/**
 * The routes of a contract's bindings, compiled once.
 *
 * @throws Error if a binding or a query for its parents has no implementation, or if two are bound to one method and path
 */
export function route<Context>(bindings: ResolvedBinding[], operations: Operation<Context>[]): Routes {
  const byName = new Map(operations.map((operation) => [operation.name, operation]))
  // Keyed by the path without parameter names, because each method may name them differently.
  const entries = new Map<string, RouteEntry>()
  for (const resolved of bindings) {
    const operation = byName.get(resolved.name)
    if (operation === undefined) throw new Error(`${resolved.name} has no implementation`)
    const { path, method, trailingSlash } = resolved.binding
    const bare = path.replace(/\/$/, '')
    const endpoint: Endpoint = {
      resolved,
      operation: operation as Operation<never>,
      procedures: [resolved.name],
      parents: parentsOf(resolved, byName),
      references: referencesOf(resolved, bindings, byName),
    }
    for (const one of new Set(trailingSlash === 'significant' ? [path] : [bare || '/', `${bare}/`])) {
      const shape = one.replace(PARAMETER, '{}')
      const entry = entries.get(shape) ?? { methods: new Map(), allow: '' }
      const other = entry.methods.get(method)?.resolved.name
      if (other !== undefined) throw new Error(`${other} and ${resolved.name} are both bound to ${method} ${path}`)
      entry.methods.set(method, endpoint)
      entries.set(shape, entry)
    }
  }
  for (const entry of entries.values()) entry.allow = allowHeader([...entry.methods.keys()])
  const all = [...entries]
  const methods = new Set(all.flatMap(([, entry]) => [...entry.methods.keys()]))
  return { router: routerOf(all), allow: allowHeader([...methods]) }
}

function parentsOf<Context>(
  { name, binding: { parents = {} }, path }: ResolvedBinding,
  operations: ReadonlyMap<string, Operation<Context>>,
): Parent[] {
  return Object.entries(parents).map(([param, query]) => {
    const operation = operations.get(query)
    const [field] = operation === undefined ? [] : Object.keys(shapeOf(operation.procedure.input))
    const from = path.find(({ name }) => name === param)?.field
    if (field === undefined || from === undefined) throw new Error(`${name}: its path has no {${param}} for ${query}`)
    return { operation: operation as Operation<never>, field, from }
  })
}

function referencesOf<Context>(
  { binding: { includes = {} } }: ResolvedBinding,
  bindings: readonly ResolvedBinding[],
  operations: ReadonlyMap<string, Operation<Context>>,
): Included[] {
  return Object.entries(includes).flatMap(([name, inclusion]) => {
    const [one, many] = [operations.get(inclusion.get), operations.get(inclusion.list)]
    const view = bindings.find(({ name }) => name === inclusion.get)
    const versionField = view?.binding.etag
    if (one === undefined || many === undefined || view === undefined || versionField === undefined) return []
    return [{ ...inclusion, name, one: one as Operation<never>, many: many as Operation<never>, view, versionField }]
  })
}

/** The routes of a contract. */
export interface Routes {
  router: Router
  /** The `Allow` header with all methods of the contract. */
  allow: string
}

function routerOf(entries: [shape: string, entry: RouteEntry][]): Router {
  // No length limit: the procedure rejects ids that are too long, with a message.
  const router = findMyWay({ maxParamLength: Number.MAX_SAFE_INTEGER })
  for (const [shape, entry] of entries) router.on('GET', pattern(shape), () => undefined, entry)
  // The router compiles on the first lookup. Do it now, because some platforms allow code generation only at startup.
  router.find('GET', '/')
  return router
}

/**
 * The route of a path in the notation of the router.
 *
 * @param shape the path with `{}` in place of each parameter
 */
// The router takes a colon for the start of a parameter, and text after a parameter for part of its name.
export function pattern(shape: string): string {
  let parameters = 0
  return shape.replaceAll(':', '::').replace(/\{\}([^/]*)/g, (_, rest: string) => {
    const name = `:${parameters++}`
    return rest === '' ? name : `${name}([^]+?)${rest}`
  })
}

/** The route at a path. */
// The router accepts empty parameters and takes `*` for the root, so both are excluded here.
export function find<Entry = RouteEntry>(
  router: Router,
  path: string,
  method: HTTPMethod = 'GET',
): RouteMatch<Entry> | undefined {
  const found = path.startsWith('/') ? router.find(method, path) : null
  if (found === null) return undefined
  const params = Object.values(found.params) as string[]
  return params.includes('') ? undefined : { entry: found.store as Entry, params }
}

/** The method of the binding for a request: GET for HEAD. */
export function methodOf(method: string): string {
  return method === 'HEAD' ? 'GET' : method
}

export function allowHeader(methods: string[]): string {
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))), 'OPTIONS'].join(
    ', ',
  )
}

/** The 405 for a method other than those of the `Allow` header. */
export function methodNotAllowed(method: string, allow: string): ApiError {
  return new ApiError(405, `${method} is not allowed here, only ${or(allow.split(', '))}`, {
    headers: { Allow: allow },
  })
}

/**
 * The error form of a path: that of the resource at the path, or else of the first resource with a binding under the
 * longest common prefix.
 */
export function errorForms(bindings: ResolvedBinding[], router: Router, fallback: ErrorForm) {
  const forms = new Map<string, ErrorForm>()
  for (const { binding, resource } of bindings) {
    const prefix = binding.path.replace(/\/[^/]*\{.*$|\/$/, '')
    if (prefix !== '' && !forms.has(prefix)) forms.set(prefix, resource.errorForm)
  }
  // Compared with each known prefix: the number of prefixes of a path grows with its length.
  const longestFirst = [...forms].sort(([a], [b]) => b.length - a.length)
  return (method: string, path: string): ErrorForm => {
    const entry = find(router, path)?.entry
    const endpoint = entry && (entry.methods.get(methodOf(method)) ?? [...entry.methods.values()][0])
    if (endpoint !== undefined) return endpoint.resolved.resource.errorForm
    const under = longestFirst.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))
    return under?.[1] ?? fallback
  }
}
