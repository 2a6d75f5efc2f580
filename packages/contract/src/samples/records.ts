import { type Facts, factsOf } from '@resource/openapi/schema'
import type { z } from 'zod'
import { upper } from '../words.ts'
import type { Random } from './random.ts'
import type { Ids, Sample } from './samples.ts'
import { ADJECTIVES, CITIES, COMPANY_FORMS, COUNTRIES, FIRST_NAMES, LAST_NAMES, NOUNS, STREETS } from './words.ts'

/** A declared collection, as far as its records depend on it. */
export interface Collection {
  /** The schema of a new record. */
  schema: z.ZodObject
  /** Fields that must differ between records. */
  unique: readonly string[]
  /** The collection to which a field refers. */
  references: Readonly<Record<string, string>>
}

type Row = Record<string, unknown>

const MAX_ATTEMPTS = 1000
const NULLS = 0.15
// Three years. Fixed, so that the values do not depend on the day.
const BEGIN_MS = Date.UTC(2024, 0)
const PERIOD_MS = Date.UTC(2027, 0) - BEGIN_MS - 1

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
 * Endless records of a collection. The fields that its sample leaves out have values that follow from the declaration; write-only
 * ones only if they are required.
 *
 * @throws Error for a field for which no value is found
 */
export function* sampleRecords(collection: Collection, ids: Ids, random: Random, sample?: Sample): Generator<Row> {
  const fields = fieldsOf(collection.schema)
  for (let n = 0; ; n++) {
    const given = sample?.record(random, n, ids) ?? {}
    const others = fields.filter(({ name }) => !Object.hasOwn(given, name))
    const values = others.map((field) => [field.name, sampleValue(field, collection, ids, random)])
    yield { ...Object.fromEntries(values), ...given }
  }
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

function sampleValue({ name, facts }: Field, collection: Collection, ids: Ids, random: Random): unknown {
  const { schema, unique, references } = collection
  if (facts.isNullable && random.chance(NULLS)) return null
  const target = references[name]
  if (target !== undefined) {
    const options = ids[target] ?? []
    if (options.length > 0) return random.pick(options)
    if (facts.isNullable) return null
    throw new Error(`${name} refers to ${target}, which has no records`)
  }
  for (const candidate of candidates(name, facts, unique.includes(name), random)) {
    if (schema.shape[name]?.safeParse(candidate).success) return candidate
  }
  throw new Error(`no sample value satisfies the rules of ${name}`)
}

/** Values for a field, the most realistic ones first. */
function* candidates(name: string, facts: Facts, isUnique: boolean, random: Random): Generator<unknown> {
  const { type, format, choices, minimum = -Infinity, maximum = Infinity, meta } = facts
  const { float, int, pick, chance } = random
  const day = () => new Date(BEGIN_MS + Math.floor(float() * PERIOD_MS)).toISOString()
  const { min, max } = rangeOf(minimum, maximum, isUnique)
  if (choices !== undefined) yield pick([...choices])
  else if (type === 'boolean') yield chance(0.5)
  else if (type === 'integer') yield int(Math.ceil(min), Math.floor(max))
  else if (type === 'number') {
    const value = min + float() * (max - min)
    yield Number(value.toFixed(2))
    yield value
  } else if (format === 'date') yield day().slice(0, 10)
  else if (format === 'datetime') yield `${day().slice(0, 16)}:00.000Z`
  else if (type === 'string') yield* texts(name, facts, isUnique, random)
  yield* (meta.examples as unknown[] | undefined) ?? []
}

const WORDS: [name: RegExp, make: (random: Random) => string][] = [
  [/e?mail$/, ({ int, pick }) => `${plain(pick(FIRST_NAMES))}.${plain(pick(LAST_NAMES))}${int(1, 9999)}@example.com`],
  [/(?:^|_)(?:url|website)$/, ({ pick }) => `https://www.example.com/${pick(ADJECTIVES)}-${pick(NOUNS)}`],
  [/phone$/, (random) => `+1 555 01${digits(random, 2)}`],
  [/(?:street|address)$/, ({ int, pick }) => `${int(1, 200)} ${pick(STREETS)}`],
  [/city$/, ({ pick }) => pick(CITIES)],
  [/country$/, ({ pick }) => pick(COUNTRIES)],
  [/(?:company|supplier|brand)$/, ({ pick }) => `${pick(LAST_NAMES)} ${pick(COMPANY_FORMS)}`],
  [/(?:author|contact|customer|owner|person)$/, ({ pick }) => `${pick(FIRST_NAMES)} ${pick(LAST_NAMES)}`],
  [/(?:code|number|reference|sku)$/, (random) => `${letters(random, 2)}-${digits(random, 5)}`],
  [
    /(?:comment|description|note|notes|text)$/,
    ({ pick }) => `${upper(pick(ADJECTIVES))} ${pick(NOUNS)}, ${pick(ADJECTIVES)} ${pick(NOUNS)}.`,
  ],
]

function* texts(name: string, facts: Facts, isUnique: boolean, random: Random): Generator<string> {
  const { format, minLength = 0, maxLength = 200 } = facts
  const [, make] = WORDS.find(([pattern]) => pattern.test(format === 'email' ? format : name)) ?? []
  if (make !== undefined) yield make(random)
  const words = upper(`${random.pick(ADJECTIVES)} ${random.pick(NOUNS)}`)
  if (isUnique) yield `${words} ${digits(random, 4)}`
  yield words
  yield words.slice(0, maxLength).trimEnd()
  yield letters(random, Math.max(minLength, Math.min(maxLength, 12)))
}

const plain = (name: string) => name.normalize('NFD').replace(/\W/g, '').toLowerCase()

const digits = ({ int }: Random, length: number) => Array.from({ length }, () => int(0, 9)).join('')

const letters = ({ int }: Random, length: number) =>
  String.fromCharCode(...Array.from({ length }, () => 65 + int(0, 25)))

/** Bounds for a number: those of the field, or a thousand numbers from the one nearest to 0 if they are far apart. */
function rangeOf(min: number, max: number, isUnique: boolean) {
  const width = isUnique ? 1_000_000 : 1000
  if (max - min <= width) return { min, max }
  if (min >= 0) return { min, max: min + width }
  return max <= 0 ? { min: max - width, max } : { min: 0, max: Math.min(max, width) }
}
