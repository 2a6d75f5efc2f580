import type { Faker } from '@faker-js/faker'
import type { Contract, WritableNoun } from '@resource/contract'
import type { z } from 'zod'
import { type Ids, upper } from './records.ts'

/** How the records of one collection are made. */
export interface Sample<Row = Record<string, unknown>> {
  /** The default number of records. */
  count: number
  /** Fields whose values differ between records, in addition to the unique columns. */
  unique?: readonly (keyof Row & string)[]
  /**
   * Endless records. Their only source of randomness is `faker`, so that the same seed makes the same records.
   *
   * @param ids the ids of the records to which a record may refer, by collection
   */
  records: (faker: Faker, ids: Ids) => Generator<Row>
}

type Creation<N extends WritableNoun> = z.input<Contract[N]['procedures']['create']['input']>

/** Realistic records of some collections. The records of all others are made from their declaration. */
export const samples: { [N in WritableNoun]?: Sample<Creation<N>> } = {
  users: { count: 50, unique: ['email'], records: users },
  books: { count: 200, records: books },
  items: { count: 500, records: items },
}

function* users(faker: Faker): Generator<Creation<'users'>> {
  for (let n = 0; ; n++) {
    const [first, last] = [faker.person.firstName(), faker.person.lastName()]
    const user = [first, last].map((name) => name.toLowerCase().replace(/[^a-z]/g, '')).join('.')
    const domain = faker.helpers.arrayElement(['example.com', 'example.net', 'example.org'])
    yield {
      name: `${first} ${last}`,
      email: `${user}@${domain}`,
      role: n === 0 || chance(faker, 0.04) ? 'admin' : 'user',
      status: n > 0 && chance(faker, 0.12) ? 'inactive' : 'active',
      age: chance(faker, 0.1) ? null : 18 + skewed(faker, 67),
    }
  }
}

// Not `faker.book`, which combines the title of one well-known book with the author of another.
function* books(faker: Faker): Generator<Creation<'books'>> {
  const author = () => `${faker.person.firstName()} ${faker.person.lastName()}`
  const authors = faker.helpers.multiple(author, { count: 80 })
  for (;;) {
    const [adjective, noun] = [faker.word.adjective(), faker.word.noun()].map(upper)
    const published = new Date(Date.UTC(2026, 0, -skewed(faker, 100 * 365)))
    yield {
      title: `The ${adjective} ${noun}`,
      author: faker.helpers.arrayElement(authors),
      published_date: published.toISOString().slice(0, 10),
    }
  }
}

function* items(faker: Faker): Generator<Creation<'items'>> {
  for (;;) {
    yield {
      name: faker.commerce.productName(),
      price: Number(`${4 + skewed(faker, 900)}.${faker.helpers.arrayElement(['00', '50', '90', '95', '99'])}`),
      category: chance(faker, 0.05) ? null : faker.commerce.department().toLowerCase(),
    }
  }
}

function chance(faker: Faker, probability: number): boolean {
  return faker.number.float() < probability
}

/** A whole number from 0 to `max`; small ones are more frequent. */
function skewed(faker: Faker, max: number): number {
  return Math.floor(faker.number.float() ** 2 * (max + 1))
}
