import findMyWay, { type HTTPVersion, type Instance } from 'find-my-way'
import { type Door, PARAMETER } from './bindings.ts'
import type { ErrorForm } from './contract.ts'
import type { Operation } from './implement.ts'

/** What stands at a path: a door for each method it takes. */
interface Place {
  doors: Map<string, { door: Door; operation: Operation<never>; procedures: readonly string[] }>
  allow: string
}

/** A place, and the path parameters as the router decoded them, in their order. */
export interface Found {
  place: Place
  params: readonly string[]
}

type Router = Instance<HTTPVersion.V1>

/**
 * The routes of a contract's doors, compiled once.
 *
 * @param isLenient paths are the same in large and small letters, and one that a method does not take is looked for among
 * those of this method: `GET /users/{name}` takes `/users/search` where only a POST stands there
 * @throws Error where an operation has no implementation, and where two are bound to one method and path
 */
export function route<Context>(doors: Door[], operations: Operation<Context>[], isLenient: boolean): Routes {
  const byName = new Map(operations.map((operation) => [operation.name, operation]))
  // By the path without the parameters' names: each method of a path has its own.
  const places = new Map<string, Place>()
  for (const door of doors) {
    const operation = byName.get(door.name)
    if (operation === undefined) throw new Error(`${door.name} has no implementation`)
    const { path, method, trailingSlash } = door.binding
    const bare = path.replace(/\/$/, '')
    const entry = { door, operation: operation as Operation<never>, procedures: [door.name] }
    for (const one of new Set(trailingSlash === 'significant' ? [path] : [bare || '/', `${bare}/`])) {
      const shape = one.replace(PARAMETER, '{}')
      const place = places.get(shape) ?? { doors: new Map(), allow: '' }
      const other = place.doors.get(method)?.door.name
      if (other !== undefined) throw new Error(`${other} and ${door.name} are both bound to ${method} ${path}`)
      place.doors.set(method, entry)
      places.set(shape, place)
    }
  }
  for (const place of places.values()) place.allow = allowed([...place.doors.keys()])
  const all = [...places]
  const methods = new Set(all.flatMap(([, place]) => [...place.doors.keys()]))
  const having = (method: string) => all.filter(([, { doors }]) => doors.has(method))
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

function routerOf(places: [shape: string, place: Place][], isLenient: boolean): Router {
  // Long ids are for the procedure to refuse, with a message, so the router takes them all.
  const router = findMyWay({ caseSensitive: !isLenient, maxParamLength: Number.MAX_SAFE_INTEGER })
  for (const [shape, place] of places) router.on('GET', pattern(shape), () => undefined, place)
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
  return params.includes('') ? undefined : { place: found.store as Place, params }
}

function allowed(methods: string[]): string {
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))), 'OPTIONS'].join(
    ', ',
  )
}

/**
 * The form of errors by path: that of the resource whose door stands there; where none does, of the first whose doors share
 * its beginning.
 */
export function errorForms(doors: Door[], router: Router, otherwise: ErrorForm) {
  const forms = new Map<string, ErrorForm>()
  for (const { binding, resource } of doors) {
    const beginning = binding.path.replace(/\/[^/]*\{.*$|\/$/, '')
    if (!forms.has(beginning)) forms.set(beginning, resource.errorForm)
  }
  return (method: string, path: string): ErrorForm => {
    const place = find(router, path)?.place
    const entry = place && (place.doors.get(method === 'HEAD' ? 'GET' : method) ?? [...place.doors.values()][0])
    if (entry !== undefined) return entry.door.resource.errorForm
    const segments = path.split('/')
    for (let length = segments.length; length > 1; length--) {
      const form = forms.get(segments.slice(0, length).join('/'))
      if (form !== undefined) return form
    }
    return otherwise
  }
}
