import { UsageError } from './fields.ts'

/** The names of a resource, the same for `order-lines` and `order_lines`. */
export interface Names {
  /** Path, and name of the test file: `order-lines`. */
  path: string
  /** Table: `order_lines`. */
  table: string
  /** Key in the contract, the client and the tables, and file name in the contract: `orderLines`. */
  noun: string
  /** Noun for one record: `orderLine`. */
  one: string
  /** Prisma model: `OrderLine`. */
  model: string
  /** For prose: `order lines` and `order line`. */
  label: string
  singularLabel: string
}

/**
 * @param plural such as `orders` or `order-lines`
 * @param singular if it is irregular
 * @throws UsageError for an invalid name
 */
export function namesOf(plural: string, singular?: string): Names {
  if (!/^[a-z]+(?:[-_][a-z]+)*$/.test(plural) || (singular === undefined && !/[^s]s$/.test(plural))) {
    throw new UsageError(
      `"${plural}" must be a lowercase plural, such as orders or order-lines. A plural without a final s needs --one: npm run new -- people --one=person name:text`,
    )
  }
  const one = singular ?? singularOf(plural)
  if (!/^[a-z]+(?:[-_][a-z]+)*$/.test(one) || one === plural) {
    throw new UsageError(`--one: "${one}" must be lowercase and differ from ${plural}.`)
  }
  return {
    path: plural.replaceAll('_', '-'),
    table: plural.replaceAll('-', '_'),
    noun: camelCase(plural),
    one: camelCase(one),
    model: upper(camelCase(one)),
    label: plural.replace(/[-_]/g, ' '),
    singularLabel: one.replace(/[-_]/g, ' '),
  }
}

function singularOf(plural: string): string {
  if (plural.endsWith('ies')) return plural.replace(/ies$/, 'y')
  return plural.replace(/(ss|x|ch|sh)es$|s$/, '$1')
}

export const camelCase = (words: string) => words.replace(/[-_](.)/g, (_, letter: string) => letter.toUpperCase())
export const upper = (word: string) => word.replace(/^./, (letter) => letter.toUpperCase())

/** `a, b and c` */
export function listed(words: string[]): string {
  return words.join(', ').replace(/, ([^,]*)$/, ' and $1')
}
