const WITH_COMMA = /^[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$/
/** `1.5`, `.5`, `12,500.75` or `1,234,567`: readable with a decimal point only. */
const WITH_POINT = /^[+-]?(\d*\.\d+|\d{1,3}(,\d{3})+\.\d+|\d{1,3}(,\d{3}){2,})$/
/** `1,299`: 1.299 with a decimal comma, 1299 with a comma between thousands. */
const AMBIGUOUS = /^[+-]?[1-9]\d{0,2},\d{3}$/

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/** The number that a text is; undefined for any other text. */
export function parseNumber(text: string): number | undefined {
  return NUMBER.test(text) ? Number(text) : undefined
}

/**
 * Reads a number with a decimal comma.
 *
 * @returns `1024.50` for `1.024,50`; undefined for anything else, such as `1.5`
 */
export function withDecimalPoint(text: string): string | undefined {
  return WITH_COMMA.test(text) ? text.replaceAll('.', '').replace(',', '.') : undefined
}

/**
 * Guesses from the numbers of a file whether they have a decimal comma.
 *
 * @returns a number that shows it, or one that could also have a comma between thousands if there is no better one;
 * undefined if no number has a comma, or if one is readable with a decimal point only
 */
export function findDecimalComma(numbers: string[]): { number: string; isAmbiguous: boolean } | undefined {
  if (numbers.some((text) => WITH_POINT.test(text) && !WITH_COMMA.test(text))) return undefined
  const found = numbers.filter((text) => text.includes(',') && WITH_COMMA.test(text))
  const number = found.find((text) => !AMBIGUOUS.test(text)) ?? found[0]
  return number === undefined ? undefined : { number, isAmbiguous: AMBIGUOUS.test(number) }
}
