// Sentences about requests, which the command line's reader never sees.
const PROTOCOL =
  /\b(?:gets?|is|otherwise|returns?) (?:an? )?[45]\d\d[.:,;]|\bAPIs\b|`\/|\b(?:ETag|If-Match|Authorization|Idempotency-Key)\b|\bX-[A-Z]|` header\b|\bJSON body\b/

/** A description of the contract without its sentences about requests and without code marks. */
export function plainText(description: string): string {
  return description
    .split(/(?<=\.)\s+/)
    .filter((sentence) => !PROTOCOL.test(sentence))
    .join(' ')
    .replaceAll('`', '')
}
