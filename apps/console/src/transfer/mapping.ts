import type { Field } from '../resources/field.ts'

/** The field of each column; a column without a field is ignored. */
export type Mapping = Record<string, string>

// Shorter names are part of unrelated words.
const SHORTEST_PART = 4

/**
 * Guesses the field of each column from its name: `E-mail address` is `email`. Exact names take precedence.
 *
 * @param idNames other names of the field `id`
 */
export function guessMapping(columns: string[], fields: Field[], idNames: string[]): Mapping {
  const mapping: Mapping = {}
  const namesOf = ({ name, label }: Field) => (name === 'id' ? ['id', ...idNames] : [name, label])
  for (const isMatch of [isSame, hasSameWord, isPart]) {
    for (const column of columns) {
      if (mapping[column] !== undefined) continue
      const taken = Object.values(mapping)
      const field = fields.find(
        (field) => !taken.includes(field.name) && namesOf(field).some((name) => isMatch(column, name)),
      )
      // Rows that change the wrong records are worse than a column to choose by hand.
      if (field !== undefined && (field.name !== 'id' || isMatch === isSame)) mapping[column] = field.name
    }
  }
  return mapping
}

function isSame(column: string, name: string): boolean {
  return plain(column) === plain(name)
}

function hasSameWord(column: string, name: string): boolean {
  return column.split(/[^\p{L}\p{N}]+/u).some((word) => isSame(word, name))
}

function isPart(column: string, name: string): boolean {
  const [shorter = '', longer = ''] = [plain(column), plain(name)].sort((a, b) => a.length - b.length)
  return shorter.length >= SHORTEST_PART && longer.includes(shorter)
}

/** Letters and digits without case and accents. */
function plain(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase()
}
