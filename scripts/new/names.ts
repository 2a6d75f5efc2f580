import lemmatizer from 'wink-lemmatizer'
import { upper } from '../../packages/contract/src/words.ts'
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
  const one = /^[a-z]+(?:[-_][a-z]+)*$/.test(plural) ? (singular ?? singularOf(plural)) : undefined
  if (one === undefined) {
    throw new UsageError(
      `"${plural}" must be a lowercase plural, such as orders or order-lines. If its singular is not in the dictionary, name it with --one: npm run new -- people --one=person name:text`,
    )
  }
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

/** The singular; undefined if the dictionary lacks the word and its ending has more than one reading (movie, baby). */
function singularOf(plural: string): string | undefined {
  const [word = ''] = /[a-z]+$/.exec(plural) ?? []
  if (word.endsWith('ss')) return undefined
  const rest = plural.slice(0, -word.length)
  const known = lemmatizer.noun(word)
  if (known !== word) return rest + known
  return /(?:[iosvxz]|[cs]h)es$|[aius]s$|[^s]$/.test(word) ? undefined : plural.slice(0, -1)
}

const camelCase = (words: string) => words.replace(/[-_](.)/g, (_, letter: string) => letter.toUpperCase())
