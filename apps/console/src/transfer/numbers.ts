export type DecimalMark = '.' | ','

const WITH_COMMA = /^[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$/

/** `1234.5` of `1.234,5` with a decimal comma. Text that is no such number is returned unchanged. */
export function withDecimalPoint(text: string): string {
  return WITH_COMMA.test(text.trim()) ? text.trim().replaceAll('.', '').replace(',', '.') : text
}

/** Guesses the decimal mark of numbers: the comma if it is the last mark in most of those that have one. */
export function guessDecimalMark(numbers: string[]): DecimalMark {
  const marks = numbers.map((text) => /[.,](?=\d+$)/.exec(text.trim())?.[0])
  const commas = marks.filter((mark) => mark === ',').length
  return commas > marks.filter((mark) => mark === '.').length ? ',' : '.'
}
