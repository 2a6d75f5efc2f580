const KNOWN = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** A request's method for metrics and traces, which must not grow with what callers think of. */
export function methodName(method: string): string {
  return KNOWN.has(method) ? method : '_OTHER'
}
