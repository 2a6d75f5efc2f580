// An import adds these columns to its file of remaining rows, after the columns of the data. An import ignores them, so that the
// corrected file can be imported.

/** The line of the imported file on which the row begins. */
export const IMPORT_LINE = 'import_line'

/** In place of the line, for a JSON file: the number of the record. */
export const IMPORT_RECORD = 'import_record'

/** Why the row was rejected; empty for a row that was not sent. */
export const IMPORT_ERROR = 'import_error'

export const IMPORT_COLUMNS = [IMPORT_LINE, IMPORT_RECORD, IMPORT_ERROR]

/** A field that a column can be. */
interface Named {
  name: string
  /** Other names. */
  names?: readonly string[]
}

// Shorter names are part of unrelated words.
const SHORTEST_PART = 4

/**
 * Guesses the fields of columns: by the same name, then by a word of the column, then by a part of its name or a typing error.
 * Case, accents and punctuation do not matter. A column that could be several fields is none. An `id` is never guessed from a
 * similar name: rows that change the wrong records are worse than a column to choose by hand.
 *
 * @param assigned the fields of some columns
 * @returns the fields of all columns that have one
 */
export function guessColumns(
  columns: readonly string[],
  fields: readonly Named[],
  assigned: ReadonlyMap<string, string | null> = new Map(),
): Map<string, string | null> {
  const found = new Map(assigned)
  for (const isMatch of [isEqual, isSame, hasSameWord, isSimilar]) {
    for (const column of columns) {
      if (found.has(column)) continue
      const taken = new Set(found.values())
      const [field, other] = fields.filter(
        ({ name, names = [] }) =>
          !taken.has(name) &&
          (name !== 'id' || isMatch === isEqual || isMatch === isSame) &&
          [name, ...names].some((each) => isMatch(column, each)),
      )
      if (field !== undefined && other === undefined) found.set(column, field.name)
    }
  }
  return found
}

function isEqual(column: string, name: string): boolean {
  return column === name
}

function isSame(column: string, name: string): boolean {
  return plain(column) === plain(name)
}

function hasSameWord(column: string, name: string): boolean {
  return column.split(/[^\p{L}\p{M}\p{N}]+/u).some((word) => isSame(word, name))
}

function isSimilar(column: string, name: string): boolean {
  const [shorter = '', longer = ''] = [plain(column), plain(name)].sort((a, b) => a.length - b.length)
  if (shorter.length < SHORTEST_PART) return false
  return longer.includes(shorter) || distance(shorter, longer) <= Math.floor(shorter.length / 4)
}

/** Letters and digits without case and accents. */
function plain(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase()
}

/** The number of insertions, deletions, replacements and swaps of neighbors between two names. */
function distance(from: string, to: string): number {
  let above: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < to.length; j++) {
      const isSwap = from[i] === to[j - 1] && from[i - 1] === to[j]
      const ways = [(row[j] ?? 0) + Number(from[i] !== to[j]), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1]
      next.push(Math.min(...ways, isSwap ? (above[j - 1] ?? 0) + 1 : Number.POSITIVE_INFINITY))
    }
    above = row
    row = next
  }
  return row.at(-1) ?? 0
}
