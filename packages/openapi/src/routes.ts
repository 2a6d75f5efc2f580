import findMyWay, { type HTTPVersion, type Instance } from 'find-my-way'
import { PARAMETER, type ResolvedBinding } from './bindings.ts'
import type { ErrorForm } from './contract.ts'
import type { Operation } from './implement.ts'

/** What stands at a path: a binding for each method it takes. */
interface RouteEntry {
  methods: Map<string, { resolved: ResolvedBinding; operation: Operation<never>; procedures: readonly string[] }>
  allow: string
}

/** A route entry, and the path parameters as the router decoded them, in their order. */
export interface Found {
  entry: RouteEntry
  params: readonly string[]
}

type Router = Instance<HTTPVersion.V1>

/**
 * The routes of a contract's bindings, compiled once.
 *
 * @param isLenient paths are the same in large and small letters, and one that a method does not take is looked for among
 * those of this method: `GET /users/{name}` takes `/users/search` where only a POST stands there
 * @throws Error where an operation has no implementation, and where two are bound to one method and path
 */
export function route<Context>(
  bindings: ResolvedBinding[],
  operations: Operation<Context>[],
  isLenient: boolean,
): Routes {
  const byName = new Map(operations.map((operation) => [operation.name, operation]))
  // By the path without the parameters' names: each method of a path has its own.
  const entries = new Map<string, RouteEntry>()
  for (const resolved of bindings) {
    const operation = byName.get(resolved.name)
    if (operation === undefined) throw new Error(`${resolved.name} has no implementation`)
    const { path, method, trailingSlash } = resolved.binding
    const bare = path.replace(/\/$/, '')
    const endpoint = { resolved, operation: operation as Operation<never>, procedures: [resolved.name] }
    for (const one of new Set(trailingSlash === 'significant' ? [path] : [bare || '/', `${bare}/`])) {
      const shape = one.replace(PARAMETER, '{}')
      const entry = entries.get(shape) ?? { methods: new Map(), allow: '' }
      const other = entry.methods.get(method)?.resolved.name
      if (other !== undefined) throw new Error(`${other} and ${resolved.name} are both bound to ${method} ${path}`)
      entry.methods.set(method, endpoint)
      entries.set(shape, entry)
    }
  }
  for (const entry of entries.values()) entry.allow = allowed([...entry.methods.keys()])
  const all = [...entries]
  const methods = new Set(all.flatMap(([, entry]) => [...entry.methods.keys()]))
  const having = (method: string) => all.filter(([, { methods }]) => methods.has(method))
  return {
    router: routerOf(all, isLenient),
    ofMethod: new Map(isLenient ? [...methods].map((method) => [method, routerOf(having(method), isLenient)]) : []),
    allow: allowed([...methods]),
  }
}

/** The routes of a contract. */
export interface Routes {
  router: Router
  /** Those of one method alone, where they are asked, too. */
  ofMethod: ReadonlyMap<string, Router>
  /** Every method that a path takes. */
  allow: string
}

function routerOf(entries: [shape: string, entry: RouteEntry][], isLenient: boolean): Router {
  // Long ids are for the procedure to refuse, with a message, so the router takes them all.
  const router = findMyWay({ caseSensitive: !isLenient, maxParamLength: Number.MAX_SAFE_INTEGER })
  for (const [shape, entry] of entries) router.on('GET', pattern(shape), () => undefined, entry)
  // It is compiled when it is first asked: now, since some platforms let code be made at their start alone.
  router.find('GET', '/')
  return router
}

// The router reads a colon as the beginning of a parameter, and what follows a parameter as part of its name.
function pattern(shape: string): string {
  let parameters = 0
  return shape.replaceAll(':', '::').replace(/\{\}([^/]*)/g, (_, rest: string) => {
    const name = `:${parameters++}`
    return rest === '' ? name : `${name}([^]+?)${rest}`
  })
}

/** What stands at a path. */
// The router would let a parameter be empty, and takes `*` for the root.
export function find(router: Router, path: string): Found | undefined {
  const found = path.startsWith('/') ? router.find('GET', path) : null
  if (found === null) return undefined
  const params = Object.values(found.params) as string[]
  return params.includes('') ? undefined : { entry: found.store as RouteEntry, params }
}

/** The method whose binding answers a request of `method`. */
export function methodOf(method: string): string {
  return method === 'HEAD' ? 'GET' : method
}

function allowed(methods: string[]): string {
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))), 'OPTIONS'].join(
    ', ',
  )
}

/**
 * The form of errors by path: that of the resource whose binding stands there; where none does, of the first whose bindings share
 * its beginning.
 */
export function errorForms(bindings: ResolvedBinding[], router: Router, otherwise: ErrorForm) {
  const forms = new Map<string, ErrorForm>()
  for (const { binding, resource } of bindings) {
    const beginning = binding.path.replace(/\/[^/]*\{.*$|\/$/, '')
    if (!forms.has(beginning)) forms.set(beginning, resource.errorForm)
  }
  return (method: string, path: string): ErrorForm => {
    const entry = find(router, path)?.entry
    const endpoint = entry && (entry.methods.get(methodOf(method)) ?? [...entry.methods.values()][0])
    if (endpoint !== undefined) return endpoint.resolved.resource.errorForm
    const segments = path.split('/')
    for (let length = segments.length; length > 1; length--) {
      const form = forms.get(segments.slice(0, length).join('/'))
      if (form !== undefined) return form
    }
    return otherwise
  }
}
