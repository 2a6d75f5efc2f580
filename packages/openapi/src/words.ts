// Without `Intl`: a contract needs its texts when it is loaded, and `Intl` takes 15 ms to load its data.

/** `10,000`. */
export const grouped = (count: number) => String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')

/** `a, b and c`. */
export const and = (words: readonly string[]) => listed(words, 'and')

/** `a, b or c`. */
export const or = (words: readonly string[]) => listed(words, 'or')

function listed(words: readonly string[], conjunction: string): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)}`
}
