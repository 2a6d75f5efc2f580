// Finding the position in a longer text would take too long.
const MAX_SEARCHED = 65_536

/**
 * The position at which a text stops being JSON: of V8's messages some end with it, one is for a text that ends too early, and
 * others quote the text, which may contain a password.
 */
export function jsonFault(text: string, message: string): number | undefined {
  const position = /position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1]
  if (position !== undefined) return Number(position)
  if (message === 'Unexpected end of JSON input') return text.length
  // Other engines have other messages.
  if (!QUOTING.test(message) || text.length > MAX_SEARCHED) return undefined
  let [valid, invalid] = [0, text.length]
  while (invalid - valid > 1) {
    const middle = Math.floor((valid + invalid) / 2)
    if (isQuoted(text.slice(0, middle))) invalid = middle
    else valid = middle
  }
  return valid
}

const QUOTING = /is not valid JSON$/

/** Whether V8's message quotes the text: it contains an unexpected token. */
function isQuoted(text: string): boolean {
  try {
    JSON.parse(text)
    return false
  } catch (error) {
    return QUOTING.test((error as Error).message)
  }
}
