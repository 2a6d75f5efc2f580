// Sentences about requests, which the command line's reader never sees.
const PROTOCOL =
  /\b[1-5]\d\d\b|\bAPIs?\b(?! keys?)|\b(HTTP|JSON|URL|GET|PUT|PATCH|POST|DELETE|ETag|If-Match|Link|Authorization|X-[A-Z]|Idempotency-Key)\b|\b(headers?|media type|query string|envelope)\b/

/** A description of the contract without its sentences about requests and without code marks. */
export function plainText(description: string): string {
  return description
    .split(/(?<=\.)\s+/)
    .filter((sentence) => !PROTOCOL.test(sentence))
    .join(' ')
    .replaceAll('`', '')
}
