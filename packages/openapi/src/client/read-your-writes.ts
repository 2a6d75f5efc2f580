const COOKIE = /^(resource_wrote=[^;]*);.*\bMax-Age=(\d+)/

/**
 * Wraps `fetch` to send back the read-your-writes cookie that the response to a write may set, until it expires. Reads
 * after the write then include it, whichever server handles them. Browsers manage cookies themselves, so the wrapper has
 * no effect there.
 */
export function withReadYourWrites(fetch: typeof globalThis.fetch) {
  let cookie: string | undefined
  let expiresMs = 0
  return async (url: string, init: RequestInit & { headers: Headers }): Promise<Response> => {
    if (cookie !== undefined && performance.now() < expiresMs) init.headers.append('Cookie', cookie)
    const response = await fetch(url, init)
    // Platforms without `getSetCookie` manage cookies themselves.
    for (const header of response.headers.getSetCookie?.() ?? []) {
      const [, pair, seconds] = COOKIE.exec(header) ?? []
      if (pair === undefined) continue
      cookie = pair
      expiresMs = performance.now() + Number(seconds) * 1000
    }
    return response
  }
}
