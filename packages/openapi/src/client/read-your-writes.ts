const MARK = /^(resource_wrote=[^;]*);.*\bMax-Age=(\d+)/

/**
 * A `fetch` that sends back the mark which the answer to a write may carry, for as long as that says: the reads after
 * it then show it, whichever server answers them. In browsers, which keep cookies themselves, it is plain `fetch`.
 */
export function keepingMark(fetch: typeof globalThis.fetch) {
  let mark: string | undefined
  let until = 0
  return async (url: string, init: RequestInit & { headers: Headers }): Promise<Response> => {
    if (mark !== undefined && performance.now() < until) init.headers.append('Cookie', mark)
    const response = await fetch(url, init)
    // Not every platform has it, and those without keep cookies themselves.
    for (const cookie of response.headers.getSetCookie?.() ?? []) {
      const [, pair, seconds] = MARK.exec(cookie) ?? []
      if (pair === undefined) continue
      mark = pair
      until = performance.now() + Number(seconds) * 1000
    }
    return response
  }
}
