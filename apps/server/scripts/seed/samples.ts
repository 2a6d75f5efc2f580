import type { Faker } from '@faker-js/faker'
import type { Contract, WritableNoun } from '@resource/contract'
import type { z } from 'zod'
import type { Ids } from './records.ts'

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
  const pick = faker.helpers.arrayElement<string>
  const patterns = [
    () => `The ${pick(TITLE.adjectives)} ${pick(TITLE.things)}`,
    () => `The ${pick(TITLE.things)} of ${pick(TITLE.places)}`,
    () => `A ${pick(TITLE.adjectives)} ${pick(TITLE.things)} in ${pick(TITLE.places)}`,
    () => `The ${pick(TITLE.people)} of ${pick(TITLE.places)}`,
    () => `The ${pick(TITLE.people)} and the ${pick(TITLE.things)}`,
    () => `The ${pick(TITLE.people)}’s ${pick(TITLE.things)}`,
  ]
  for (;;) {
    const published = new Date(Date.UTC(2026, 0, -skewed(faker, 100 * 365)))
    yield {
      title: faker.helpers.arrayElement(patterns)(),
      author: pick(authors),
      published_date: published.toISOString().slice(0, 10),
    }
  }
}

const list = (words: string) => words.split('|')

const TITLE = {
  adjectives: list(
    'Blue|Borrowed|Broken|Distant|Forgotten|Frozen|Hidden|Hollow|Last|Long|Lost|Painted|Quiet|Restless|Secret|Silver|Sleeping',
  ),
  things: list(
    'Archive|Atlas|Bridge|Clock|Coast|Garden|Harbor|House|Island|Lantern|Letter|Library|Map|Mirror|Orchard|River|Road|Song',
  ),
  people: list(
    'Apprentice|Astronomer|Beekeeper|Cartographer|Doctor|Gardener|Glassblower|Neighbor|Painter|Stranger|Translator|Witness',
  ),
  places: list('Bergen|Cordoba|Dresden|Ghent|Havana|Lisbon|Marseille|Porto|Riga|Tbilisi|Trieste|Valparaíso|the North'),
}

function* items(faker: Faker): Generator<Creation<'items'>> {
  const pick = faker.helpers.arrayElement<string>
  const categories = Object.entries(PRODUCTS)
  for (;;) {
    const [category, [lowest, highest, products]] = faker.helpers.arrayElement(categories)
    // Most products are cheap, and prices end like those of a shop.
    const price = `${lowest + skewed(faker, highest - lowest)}.${pick(['00', '50', '90', '95', '99'])}`
    yield {
      name: `${pick(STYLES)} ${pick(list(products))}, ${pick(COLORS)}`,
      price: Number(price),
      category: chance(faker, 0.05) ? null : category,
    }
  }
}

const STYLES = list('Classic|Compact|Elegant|Everyday|Large|Lightweight|Modern|Premium|Rustic|Simple|Slim|Small')
const COLORS = list('beige|black|blue|charcoal|cream|gray|green|mustard|navy|olive|red|sand|white|yellow')

/** The lowest and the highest price of each category, and its products. */
const PRODUCTS: Record<string, [lowest: number, highest: number, products: string]> = {
  bags: [19, 180, 'backpack|messenger bag|tote bag|toiletry bag|travel bag|wallet'],
  bathroom: [5, 60, 'bath mat|mirror|shower curtain|soap dish|towel rail|towel set'],
  bedroom: [15, 320, 'bedside table|blanket|duvet cover|mattress topper|pillow|wardrobe rail'],
  electronics: [15, 400, 'alarm clock|headphones|keyboard|mouse|radio|speaker|webcam'],
  furniture: [40, 900, 'armchair|bookcase|desk|dining chair|dining table|sideboard|stool'],
  garden: [8, 250, 'bird feeder|deck chair|hose reel|parasol|plant pot|watering can'],
  kitchen: [6, 220, 'bread bin|coffee grinder|frying pan|kettle|knife block|mixing bowl|teapot'],
  lighting: [12, 260, 'ceiling light|desk lamp|floor lamp|lantern|pendant light|wall light'],
  office: [4, 150, 'desk pad|document tray|monitor stand|notebook|pen holder|waste bin'],
  sports: [9, 190, 'dumbbell set|gym bag|jump rope|skateboard|water bottle|yoga mat'],
  storage: [7, 130, 'basket|coat rack|drawer unit|laundry hamper|shoe rack|storage box'],
  toys: [6, 90, 'building set|doll house|kite|play tent|puzzle|train set'],
}

function chance(faker: Faker, probability: number): boolean {
  return faker.number.float() < probability
}

/** A whole number from 0 to `max`; small ones are more frequent. */
function skewed(faker: Faker, max: number): number {
  return Math.floor(faker.number.float() ** 2 * (max + 1))
}
