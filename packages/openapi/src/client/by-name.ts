/**
 * An object that makes each property when it is first read.
 *
 * @param known the properties that it has already
 */
export function byName(make: (name: string) => unknown, known: Record<PropertyKey, unknown> = {}): object {
  return new Proxy(known, {
    get(known, name) {
      // `await` looks for `then`.
      if (!Object.hasOwn(known, name) && typeof name === 'string' && name !== 'then') known[name] = make(name)
      return Object.hasOwn(known, name) ? known[name] : undefined
    },
  })
}
