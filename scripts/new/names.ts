import { UsageError } from './fields.ts'

/** What a resource is called, by where: of `order-lines` and `order_lines` alike. */
export interface Names {
  /** Its path, and its tests' file: `order-lines`. */
  path: string
  /** Its table: `order_lines`. */
  table: string
  /** Its key in the contract, the client and the tables, and its file in the contract: `orderLines`. */
  noun: string
  /** The noun of one record: `orderLine`. */
  one: string
  /** Its model: `OrderLine`. */
  model: string
  /** For people: `order lines` and `order line`. */
  words: string
  oneInWords: string
}

/**
 * @param plural `orders`, `order-lines`
 * @param singular where it does not follow from the plural
 * @throws UsageError that says what a name is
 */
export function namesOf(plural: string, singular?: string): Names {
  if (!/^[a-z]+(?:[-_][a-z]+)*$/.test(plural) || (singular === undefined && !/[^s]s$/.test(plural))) {
    throw new UsageError(
      `"${plural}" is not a plural in lower case, such as orders or order-lines. If it is one without an s: npm run new -- people --one=person name:text`,
    )
  }
  const one = singular ?? singularOf(plural)
  if (!/^[a-z]+(?:[-_][a-z]+)*$/.test(one) || one === plural) {
    throw new UsageError(`"${one}" is not the singular of ${plural} in lower case.`)
  }
  return {
    path: plural.replaceAll('_', '-'),
    table: plural.replaceAll('-', '_'),
    noun: camelCase(plural),
    one: camelCase(one),
    model: upper(camelCase(one)),
    words: plural.replace(/[-_]/g, ' '),
    oneInWords: one.replace(/[-_]/g, ' '),
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
