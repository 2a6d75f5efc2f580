/**
 * The form of a text that searches compare: in lower case, with one space between words. Both sides of a comparison have it,
 * so that letter case and white space do not matter. A Greek sigma has one form wherever it stands: toLowerCase() has another
 * at the end of a word, which a part of that word does not have.
 */
export function searchKey(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ').replace(/\s+/g, ' ').trim()
}

/**
 * The text in which a search looks for its words, as SQL. Each column begins after a space, so a word at the beginning of a
 * word is one after a space. No word contains a space, so none extends over two columns.
 *
 * @param row prefix of the columns, such as `old.`
 */
export function searchedText(columns: readonly string[], row = ''): string {
  return columns.map((column) => `' ' || ${row}"${column}"`).join(' || ')
}

const PREFIX_LENGTH = 2

/** What a word must match in the searched text: anywhere in a word, or its beginning for a word of two characters. */
export function searchedPart(word: string): string {
  return [...word].length <= PREFIX_LENGTH ? ` ${word}` : word
}

/**
 * The query of SQLite's full-text index for the rows that may contain all parts: trigrams that together cover each part. All
 * trigrams would exclude only a few more rows, and looking them up takes longer than reading those rows.
 */
export function trigramQuery(parts: readonly string[]): string {
  const trigrams = parts.flatMap((part) => {
    const characters = [...part]
    const last = characters.length - 3
    return characters
      .map((_, index) => index)
      .filter((index) => index === last || (index < last && index % 3 === 0))
      .map((index) => characters.slice(index, index + 3).join(''))
  })
  return [...new Set(trigrams)].map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(' AND ')
}

/** A text in which `%`, `_` and the escape character of LIKE have no special meaning. */
export function likePattern(part: string): string {
  return `%${part.replace(/[\\%_]/g, '\\$&')}%`
}

/** The first text after all texts with a prefix, by code point; undefined if there is none. */
export function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number)
  while (points.length > 0) {
    const last = points.pop() as number
    // Surrogates are no characters of their own.
    if (last < 0x10ffff) return String.fromCodePoint(...points, last === 0xd7ff ? 0xe000 : last + 1)
  }
  return undefined
}
