import type { z } from 'zod'
import type { Contract, WritableNoun } from '../index.ts'
import { upper } from '../words.ts'
import type { Random } from './random.ts'
import { ADJECTIVES, COLORS, FIRST_NAMES, LAST_NAMES, MATERIALS, NOUNS, THINGS, TITLES } from './words.ts'

/** The ids of the records to which a new one may refer, by collection. */
export type Ids = Readonly<Record<string, readonly number[]>>

/** How the sample records of one collection look. */
export interface Sample<Row = Record<string, unknown>> {
  /** The default number of records. */
  count?: number
  /** Fields whose values differ between records, in addition to the unique columns. */
  unique?: readonly (keyof Row & string)[]
  /**
   * The fields of a record that do not simply follow from the declaration; all others get a value that fits it. The only source of
   * randomness is `random`, so that the same seed makes the same records.
   *
   * @param n the number of the record, from 0
   */
  record: (random: Random, n: number, ids: Ids) => Partial<Row>
}

type Creation<N extends WritableNoun> = z.input<Contract[N]['procedures']['create']['input']>

/**
 * The sample records of collections: of seeds, of the console, and of the tests of all resources. A collection that is not named has
 * those that follow from its declaration.
 */
const samples: { [N in WritableNoun]?: Sample<Creation<N>> } = {
  users: {
    count: 200,
    unique: ['email'],
    record: ({ pick, chance, skewed }, n) => {
      const [first, last] = [pick(FIRST_NAMES), pick(LAST_NAMES)]
      const user = [first, last].map((name) => name.normalize('NFD').replace(/\W/g, '').toLowerCase()).join('.')
      // The names alone differ for some thousands of users.
      return {
        name: `${first} ${last}`,
        email: `${user}${n < 200 ? '' : n}@${pick(['example.com', 'example.net', 'example.org'])}`,
        role: n === 0 || chance(0.06) ? 'admin' : 'user',
        status: n > 0 && chance(0.12) ? 'inactive' : 'active',
        age: chance(0.12) ? null : 18 + skewed(67),
      }
    },
  },
  books: {
    count: 300,
    record: ({ pick, skewed }) => {
      const author = skewed(LAST_NAMES.length - 1)
      return {
        title: `${pick(TITLES)} ${upper(pick(ADJECTIVES))} ${upper(pick(NOUNS))}`,
        author: `${FIRST_NAMES[(author * 7) % FIRST_NAMES.length]} ${LAST_NAMES[author]}`,
        published_date: new Date(Date.UTC(2026, 0, -skewed(100 * 365))).toISOString().slice(0, 10),
      }
    },
  },
  items: {
    count: 1000,
    record: ({ pick, chance, skewed, int }) => {
      const [category = '', price = 0, names = []] = THINGS[skewed(THINGS.length - 1)] ?? []
      return {
        name: `${pick(names)}, ${pick(MATERIALS)}${chance(0.3) ? `, ${pick(COLORS)}` : ''}`,
        price: Number(`${Math.round((price * int(40, 200)) / 100)}.${pick(['00', '50', '90', '95'])}`),
        category: chance(0.03) ? null : category,
      }
    },
  },
}

/** How the records of a collection look, if its samples say it. */
export function sampleOf(noun: string): Sample | undefined {
  const byNoun: Record<string, Sample | undefined> = samples
  return byNoun[noun]
}
