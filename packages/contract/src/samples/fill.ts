import type { z } from 'zod'
import type { CollectionFacts } from '../declaration.ts'
import { writable } from '../writable.ts'
import { randomOf } from './random.ts'
import { distinct, sampleRecords } from './records.ts'
import { type Ids, sampleOf } from './samples.ts'

const DEFAULT_COUNT = 100
// The maximum of a bulk create.
const CHUNK = 1000

export interface Outcome {
  noun: string
  /** The number of records created; undefined if the collection had records and was not changed. */
  created: number | undefined
  /** The number of records now. */
  total: number
  /** The number of records requested. */
  requested: number
  /** Why no more records could be created. */
  refusal?: string
}

export interface FillOptions {
  /** The same seed and counts create the same records in the same order. */
  seed?: number
  /** The number of records by collection; without one, the default of the collection. */
  counts?: Record<string, number>
  /** The unique columns of a table, by noun. By default those of the declaration's `keys`. */
  unique?: Readonly<Record<string, readonly string[] | undefined>>
  /** Whether collections that have records get more. */
  addsToExisting?: boolean
  /** Options of each write. */
  options?: object
}

interface Declared {
  collection?: CollectionFacts
  procedures: Record<string, { input: z.ZodObject } | undefined>
}

interface Standard {
  list: { query: (input: object) => Promise<Record<string, unknown>> }
  create: { mutate: (record: object, options?: object) => Promise<{ id: number }> }
  createMany: { mutate: (records: object, options?: object) => Promise<Record<string, { id: number }[]>> }
}

const resources = writable as unknown as Record<string, Declared>

/** The collections that can be filled: those with a list whose records can be created. */
export const collections: string[] = Object.entries(resources).flatMap(([noun, { collection, procedures }]) =>
  collection !== undefined && procedures.list && procedures.create ? [noun] : [],
)

/**
 * Fills each empty collection with samples. A collection whose records the service refuses does not affect the others, except those
 * that must refer to it.
 *
 * @param client of this contract
 */
export async function* fill(client: object, filling: FillOptions = {}): AsyncGenerator<Outcome> {
  const { counts = {}, addsToExisting = false, options } = filling
  const ids: Record<string, number[]> = {}
  for (const noun of inOrder()) {
    const { list, create, createMany } = (client as Record<string, Standard>)[noun] as Standard
    const { [noun]: existing, total } = await list.query({ limit: CHUNK, count: true })
    ids[noun] = (existing as { id: number }[]).map(({ id }) => id)
    const requested = counts[noun] ?? sampleCount(noun)
    if (total !== 0 && !addsToExisting) {
      yield { noun, created: undefined, total: total as number, requested }
      continue
    }
    let created = 0
    try {
      for (const records of chunks(recordsOf(noun, ids, filling), requested)) {
        const stored = resources[noun]?.procedures.createMany
          ? (await createMany.mutate({ [noun]: records }, options))[noun]
          : await inTurn(records, (record) => create.mutate(record, options))
        for (const { id } of stored ?? []) ids[noun].push(id)
        created += records.length
      }
      yield { noun, created, total: created, requested }
    } catch (error) {
      yield { noun, created, total: created, requested, refusal: (error as Error).message }
    }
  }
}

/** The number of samples of a collection, by default. */
export function sampleCount(noun: string): number {
  return sampleOf(noun)?.count ?? DEFAULT_COUNT
}

/** The fields that the samples of a collection name for its record `n`. */
export function sampleFieldsOf(noun: string, n: number, ids: Ids): Record<string, unknown> {
  const random = randomOf(1, noun)
  const records = Array.from({ length: n + 1 }, (_, index) => sampleOf(noun)?.record(random, index, ids))
  return records.at(-1) ?? {}
}

/** The collections, each after those it refers to where possible. */
function inOrder(): string[] {
  const ordered: string[] = []
  const visit = (noun: string, path: string[]) => {
    if (ordered.includes(noun) || path.includes(noun)) return
    const targets = Object.values(resources[noun]?.collection?.references ?? {})
    for (const target of targets) if (collections.includes(target)) visit(target, [...path, noun])
    ordered.push(noun)
  }
  for (const noun of collections) visit(noun, [])
  return ordered
}

function recordsOf(noun: string, ids: Record<string, number[]>, { seed = 1, unique = {} }: FillOptions) {
  const { collection, procedures } = resources[noun] as Declared
  const schema = (procedures.create as { input: z.ZodObject }).input.omit({ idempotency_key: true })
  const sample = sampleOf(noun)
  const distinctFields = [...(unique[noun] ?? collection?.keys ?? []), ...(sample?.unique ?? [])]
  // Separate random numbers for each collection: the count of one does not change the records of another.
  const random = randomOf(seed, noun)
  const declared = { schema, unique: distinctFields, references: collection?.references ?? {} }
  const given = distinctFields.filter((name) => name in schema.shape)
  return distinct(sampleRecords(declared, ids, random, sample), given)
}

function* chunks<T>(records: Iterator<T>, count: number): Generator<T[]> {
  for (let missing = count; missing > 0; missing -= CHUNK) {
    const chunk: T[] = []
    while (chunk.length < Math.min(missing, CHUNK)) {
      const { value, done } = records.next()
      if (done) break
      chunk.push(value)
    }
    if (chunk.length > 0) yield chunk
    if (chunk.length < Math.min(missing, CHUNK)) return
  }
}

async function inTurn<T, R>(values: T[], work: (value: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (const value of values) results.push(await work(value))
  return results
}
