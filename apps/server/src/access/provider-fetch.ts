const MAX_BYTES = 1024 * 1024

/**
 * `fetch` for the documents of an identity provider: an answer of more than 1 MiB is an error, however long it is.
 *
 * @throws TypeError if the answer is too long
 */
export async function fetchFromProvider(url: string | URL, options?: RequestInit): Promise<Response> {
  const answer = await fetch(url, options)
  const parts: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  // Leaving the loop cancels the rest.
  for await (const part of answer.body ?? []) {
    size += part.byteLength
    if (size > MAX_BYTES) throw new TypeError(`${url} answered with more than ${MAX_BYTES} bytes`)
    parts.push(part)
  }
  const { status, statusText, headers } = answer
  const copy = new Response(size === 0 ? null : new Blob(parts), { status, statusText, headers })
  // Where redirects have led to.
  Object.defineProperty(copy, 'url', { value: answer.url })
  return copy
}
