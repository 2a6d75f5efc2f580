import type { Contains, Range } from './types.ts'

// Scripts without spaces between words, and Korean, whose words take particles and form compounds.
const UNSPACED =
  '[\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Bopo}\\p{sc=Hang}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}\\p{sc=Tibt}\\p{sc=Java}\\p{sc=Lana}]'
const IS_UNSPACED = new RegExp(UNSPACED, 'u')
const BETWEEN = new RegExp(`(?<=${UNSPACED})(?=\\S)|(?<=\\S)(?=${UNSPACED})`, 'gu')
// The Hangul filler: an invisible letter. pg_trgm makes trigrams of letters and digits only.
const FILLER = '\u3164'
// A soft dot disappears under another mark; uppercase has it as a mark, and so has its lowercase: İ becomes i and a dot.
const SOFT_DOT = /(\p{Soft_Dotted}\p{M}*?)\u0307/gu
const ASCII = /^[\x20-\x7e]*$/

/**
 * The form of a text that searches compare: Unicode's full case folding without soft dots, in NFC, with one space between
 * words. A dotless i is folded as its capital is. Texts that differ only in the case or the composition of letters, or in
 * white space, have the same form.
 *
 * A filler stands before and after each letter of a script without spaces, except at the ends of a word. Two such letters
 * are thus three characters, and an index of trigrams finds them anywhere in a word.
 */
export function searchKey(text: string): string {
  const spaced = fold(text).replace(/\s+/g, ' ').trim()
  return IS_UNSPACED.test(spaced) ? spaced.replace(BETWEEN, FILLER) : spaced
}

/** toUpperCase() has the full mappings, except of capitals. toLowerCase() has a second sigma, for the end of a word. */
function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase()
  const folded = text.normalize('NFD').toLowerCase().toUpperCase().toLowerCase()
  return folded.replaceAll('ς', 'σ').replaceAll(FILLER, '').replace(SOFT_DOT, '$1').normalize()
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

/** What a word must match in the searched text: anywhere in a word, or its beginning for a word of two characters (with fillers). */
function searchedPart(word: string): string {
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

/** Whether conditions search for words. */
export function searches(where: object): boolean {
  for (const column in where) if (isSearch((where as Record<string, unknown>)[column])) return true
  return false
}

/** Whether a condition searches for words. */
export function isSearch(condition: unknown): boolean {
  return isRange(condition) && condition.contains !== undefined
}

/** The searches among conditions: the columns, and the parts of the searched text that a match has. */
export function searchesIn(where: object): { columns: readonly string[]; parts: string[] }[] {
  return Object.entries<unknown>(where as Record<string, unknown>).flatMap(([column, condition]) => {
    const { contains = [] } = isRange(condition) ? condition : {}
    return [contains].flat().map(({ words, columns }: Contains) => ({
      columns: [...new Set(columns ?? [column])],
      parts: [...new Set(words)].map(searchedPart),
    }))
  })
}

export function isRange(condition: unknown): condition is Range<unknown> {
  return typeof condition === 'object' && condition !== null && !(condition instanceof Date)
}
