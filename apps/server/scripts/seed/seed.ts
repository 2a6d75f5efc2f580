import { faker } from '@faker-js/faker/locale/en'
import type { Client } from '@resource/client'
import { type CollectionFacts, type WritableNoun, writable } from '@resource/contract'
import { declarations } from '@resource/database'
import type { z } from 'zod'
import { declaredRecords, distinct } from './records.ts'
import { type Sample, samples } from './samples.ts'

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

interface Declared {
  collection?: CollectionFacts
  procedures: Record<string, { input: z.ZodObject } | undefined>
}

interface Standard {
  list: { query: (input: object) => Promise<Record<string, unknown>> }
  create: { mutate: (record: object) => Promise<{ id: number }> }
  createMany: { mutate: (records: object) => Promise<Record<string, { id: number }[]>> }
}

const resources = writable as unknown as Record<string, Declared>

/** The collections that can be filled: those with a list whose records can be created. */
export const collections: string[] = Object.entries(resources).flatMap(([noun, { collection, procedures }]) =>
  collection !== undefined && procedures.list && procedures.create ? [noun] : [],
)

/**
 * Fills each empty collection. The same seed and counts create the same records in the same order.
 *
 * @param counts the number of records by collection; without one, the default of the collection
 * A collection whose records the service refuses does not affect the others, except those that must refer to it.
 */
export async function* fill(
  client: Client,
  { seed, counts }: { seed: number; counts: Record<string, number> },
): AsyncGenerator<Outcome> {
  const ids: Record<string, number[]> = {}
  for (const noun of inOrder()) {
    const { list, create, createMany } = client[noun as WritableNoun] as unknown as Standard
    const { [noun]: existing, total } = await list.query({ limit: CHUNK, count: true })
    ids[noun] = (existing as { id: number }[]).map(({ id }) => id)
    const requested = counts[noun] ?? sampleOf(noun)?.count ?? DEFAULT_COUNT
    if (total !== 0) {
      yield { noun, created: undefined, total: total as number, requested }
      continue
    }
    let created = 0
    try {
      for (const records of chunks(recordsOf(noun, ids, seed), requested)) {
        const stored = resources[noun]?.procedures.createMany
          ? (await createMany.mutate({ [noun]: records }))[noun]
          : await inTurn(records, (record) => create.mutate(record))
        for (const { id } of stored ?? []) ids[noun].push(id)
        created += records.length
      }
      yield { noun, created, total: created, requested }
    } catch (error) {
      yield { noun, created, total: created, requested, refusal: (error as Error).message }
    }
  }
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

function recordsOf(noun: string, ids: Record<string, number[]>, seed: number): Generator<Record<string, unknown>> {
  const { collection, procedures } = resources[noun] as Declared
  const schema = (procedures.create as { input: z.ZodObject }).input.omit({ idempotency_key: true })
  const unique = (declarations[noun as keyof typeof declarations] as { unique: readonly string[] }).unique
  const references = collection?.references ?? {}
  // Separate random numbers for each collection: the count of one does not change the records of another.
  faker.seed([seed, ...Buffer.from(noun)])
  const sample = sampleOf(noun)
  const records = sample?.records(faker, ids) ?? declaredRecords({ schema, unique, references }, ids, faker)
  return distinct(
    records,
    [...unique, ...(sample?.unique ?? [])].filter((name) => name in schema.shape),
  )
}

function sampleOf(noun: string): Sample | undefined {
  return (samples as unknown as Record<string, Sample | undefined>)[noun]
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
