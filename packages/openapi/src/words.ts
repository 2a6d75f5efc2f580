/** `a, b and c`. */
export const and = (words: readonly string[]) => listed(words, 'and')

/** `a, b or c`. */
export const or = (words: readonly string[]) => listed(words, 'or')

// Without `Intl`, which takes 15 ms to load its data.
function listed(words: readonly string[], conjunction: string): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)}`
}
