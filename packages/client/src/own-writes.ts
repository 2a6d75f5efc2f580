const MARK = /^(resource_wrote=[^;]*);.*\bMax-Age=(\d+)/

/**
 * A `fetch` that sends back the mark which the answer to a write may carry, for as long as that says: the reads after
 * it then show it, whichever server answers them. In browsers, which keep cookies themselves, it is plain `fetch`.
 */
export function keepingMark() {
  let mark: string | undefined
  let until = 0
  return async (input: string | URL | Request, init?: object): Promise<Response> => {
    const { headers, ...request }: RequestInit = init ?? {}
    const sent = new Headers(headers)
    if (mark !== undefined && performance.now() < until) sent.append('Cookie', mark)
    const response = await fetch(input, { ...request, headers: sent })
    for (const cookie of response.headers.getSetCookie()) {
      const [, pair, seconds] = MARK.exec(cookie) ?? []
      if (pair === undefined) continue
      mark = pair
      until = performance.now() + Number(seconds) * 1000
    }
    return response
  }
}
