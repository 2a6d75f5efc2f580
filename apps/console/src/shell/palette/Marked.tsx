/** A text with the words of a query marked. */
export function Marked({ text, query }: { text: string; query: string }) {
  const words = wordsOf(query)
  if (words.length === 0) return text
  const parts = text.split(RegExp(`(${words.join('|').replaceAll('.', '\\.')})`, 'iu'))
  // With one group, every second part is what it has matched.
  return parts.map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))
}

/** Whether each word of a query begins a word of the text. */
export function matches(text: string, query: string): boolean {
  const words = wordsOf(text)
  return wordsOf(query).every((word) => words.some((one) => one.startsWith(word)))
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}@.]+/gu) ?? []
}
