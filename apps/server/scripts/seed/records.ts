import type { Faker } from '@faker-js/faker'
import { type Facts, factsOf } from '@resource/contract/schema'
import type { z } from 'zod'

/** A declared collection, as far as its records depend on it. */
export interface Collection {
  /** The schema of a new record. */
  schema: z.ZodObject
  /** Fields that must differ between records. */
  unique: readonly string[]
  /** The collection to which a field refers. */
  references: Readonly<Record<string, string>>
}

/** The ids of the records to which a new one may refer, by collection. */
export type Ids = Readonly<Record<string, readonly number[]>>

type Row = Record<string, unknown>

const MAX_ATTEMPTS = 1000
const NULLS = 0.15
// Fixed, so that the values do not depend on the day.
const PERIOD = { from: '2024-01-01T00:00:00.000Z', to: '2026-12-31T23:59:59.999Z' }

/** The records whose values of the unique fields differ. It ends if no further value is found. */
export function* distinct(records: Iterable<Row>, unique: readonly string[]): Generator<Row> {
  const seen = unique.map((name) => ({ name, values: new Set<unknown>() }))
  let attempts = 0
  for (const record of records) {
    if (seen.some(({ name, values }) => record[name] !== null && values.has(record[name]))) {
      attempts++
      if (attempts === MAX_ATTEMPTS) return
      continue
    }
    for (const { name, values } of seen) values.add(record[name])
    attempts = 0
    yield record
  }
}

/**
 * Endless records of a collection, made from its declaration. Write-only fields have a value only if they are required.
 *
 * @throws Error for a field for which no value is found
 */
export function* declaredRecords(collection: Collection, ids: Ids, faker: Faker): Generator<Row> {
  const fields = fieldsOf(collection.schema)
  for (;;) yield Object.fromEntries(fields.map((field) => [field.name, sampleValue(field, collection, ids, faker)]))
}

interface Field {
  name: string
  facts: Facts
}

function fieldsOf({ shape }: z.ZodObject): Field[] {
  return Object.entries(shape as Record<string, z.ZodType>).flatMap(([name, schema]) => {
    const facts = factsOf(schema)
    return facts.meta.writeOnly === true && facts.isOptional ? [] : [{ name, facts }]
  })
}

function sampleValue({ name, facts }: Field, collection: Collection, ids: Ids, faker: Faker): unknown {
  const { schema, unique, references } = collection
  if (facts.isNullable && faker.number.float() < NULLS) return null
  const target = references[name]
  if (target !== undefined) {
    const options = ids[target] ?? []
    if (options.length > 0) return faker.helpers.arrayElement(options)
    if (facts.isNullable) return null
    throw new Error(`${name} refers to ${target}, which has no records`)
  }
  for (const candidate of candidates(name, facts, unique.includes(name), faker)) {
    if (schema.shape[name]?.safeParse(candidate).success) return candidate
  }
  throw new Error(`no sample value satisfies the rules of ${name}`)
}

/** Values for a field, the most realistic ones first. */
function* candidates(name: string, facts: Facts, isUnique: boolean, faker: Faker): Generator<unknown> {
  const { type, format, choices, minimum = -Infinity, maximum = Infinity, meta } = facts
  if (choices !== undefined) yield faker.helpers.arrayElement(choices)
  else if (type === 'boolean') yield faker.datatype.boolean()
  else if (type === 'integer') yield faker.number.int(rangeOf(minimum, maximum, isUnique))
  else if (type === 'number') {
    const { min, max } = rangeOf(minimum, maximum, isUnique)
    const value = min + faker.number.float() * (max - min)
    yield Number(value.toFixed(2))
    yield value
  } else if (format === 'date') yield faker.date.between(PERIOD).toISOString().slice(0, 10)
  else if (format === 'datetime') yield `${faker.date.between(PERIOD).toISOString().slice(0, 16)}:00.000Z`
  else if (type === 'string') yield* texts(name, facts, faker)
  yield* (meta.examples as unknown[] | undefined) ?? []
}

const WORDS: [name: RegExp, make: (faker: Faker) => string][] = [
  [/e?mail$/, (faker) => faker.internet.email({ provider: 'example.com' }).toLowerCase()],
  [/(?:^|_)(?:url|website)$/, (faker) => `https://www.example.com/${faker.lorem.slug(2)}`],
  [/phone$/, (faker) => faker.phone.number({ style: 'international' })],
  [/(?:street|address)$/, (faker) => faker.location.streetAddress()],
  [/city$/, (faker) => faker.location.city()],
  [/country$/, (faker) => faker.location.country()],
  [/(?:company|supplier|brand)$/, (faker) => faker.company.name()],
  [/(?:author|contact|customer|owner|person)$/, (faker) => `${faker.person.firstName()} ${faker.person.lastName()}`],
  [
    /(?:code|number|reference|sku)$/,
    (faker) => `${faker.string.alpha({ length: 2, casing: 'upper' })}-${digits(faker)}`,
  ],
  [/(?:comment|description|note|notes|text)$/, (faker) => faker.lorem.sentence()],
]

function digits(faker: Faker): string {
  return faker.string.numeric(5)
}

function* texts(name: string, { format, minLength = 0, maxLength = 200 }: Facts, faker: Faker): Generator<string> {
  const [, make] = WORDS.find(([pattern]) => pattern.test(format === 'email' ? format : name)) ?? []
  if (make !== undefined) yield make(faker)
  const words = `${faker.word.adjective()} ${faker.word.noun()}`
  yield upper(words)
  yield upper(words).slice(0, maxLength).trimEnd()
  yield faker.string.alphanumeric(Math.max(minLength, Math.min(maxLength, 12)))
}

/** Bounds for a number: those of the field, or a thousand numbers from the one nearest to 0 if they are far apart. */
function rangeOf(min: number, max: number, isUnique: boolean) {
  const width = isUnique ? 1_000_000 : 1000
  if (max - min <= width) return { min, max }
  if (min >= 0) return { min, max: min + width }
  return max <= 0 ? { min: max - width, max } : { min: 0, max: Math.min(max, width) }
}

/** With a capital at the beginning. */
export const upper = (words: string) => words.replace(/^./, (letter) => letter.toUpperCase())
