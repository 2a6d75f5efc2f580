import type { Applied, ApplyOptions, Client } from '@resource/client'
import { type Contract, contract, type Input, type Output, type WritableNoun } from '@resource/contract'
import type { z } from 'zod'

/** The resources with records. */
export type Noun = {
  [N in keyof Contract]: Contract[N]['procedures'] extends { list: object; get: object } ? N : never
}[keyof Contract]
export type JsonObject = Record<string, unknown>

/** A procedure as the commands see it. */
export interface Procedure {
  type: 'query' | 'mutation'
  input: z.ZodObject
  output: z.ZodObject
  meta: { openapi: { method?: string; summary?: string; description?: string } }
}

// Field names that the commands use. A field renamed in the contract causes a compile error here.
export const ID = 'id' satisfies keyof Input<Noun, 'get'>
export const AFTER = 'after' satisfies keyof Input<Noun, 'list'>
export const LIMIT = 'limit' satisfies keyof Input<Noun, 'list'>
export const COUNT = 'count' satisfies keyof Input<Noun, 'list'>
export const PAGE = 'page' satisfies keyof Input<Noun, 'list'>
export const SORT = 'sort' satisfies keyof Input<Noun, 'list'>
export const IF_VERSION = 'if_version' satisfies keyof Input<'items', 'update'>
export const KEY = 'idempotency_key' satisfies keyof Input<WritableNoun, 'create'>

/** The paging fields of a list result. */
export type PageInfo = Pick<Output<Noun, 'list'>, 'page' | 'limit' | 'next' | 'total' | 'searched'>

export const nouns = Object.entries(contract).flatMap(([noun, { procedures }]) =>
  'get' in procedures ? [noun as Noun] : [],
)

/** A number of records: `1 item`, `2 items`. */
export function countOf(noun: Noun, count: number): string {
  const resource = contract[noun]
  return `${count} ${count === 1 && 'collection' in resource ? resource.collection.one : noun}`
}

/** The procedures of a noun by verb. */
export function proceduresOf(noun: Noun): Record<string, Procedure> {
  return contract[noun].procedures
}

/** A page of a list, with its records under the noun. */
export type Page = JsonObject & PageInfo

const PAGE_SIZE = 1000

/** All pages of a list by cursor; only the first one counts. */
export function pagesOf(client: Client, noun: Noun, input: JsonObject, options?: object): AsyncIterable<Page> {
  const pages: (input: JsonObject, options?: object) => AsyncIterable<Page> = Reflect.get(client[noun], 'pages')
  return pages({ ...input, [LIMIT]: PAGE_SIZE }, options)
}

/** The schema of one record, if the input or output has an array of records under the noun. */
export function recordSchema(noun: Noun, schema: z.ZodObject): z.ZodObject | undefined {
  const many = schema.shape[noun] as { element?: z.ZodObject } | undefined
  return many?.element
}

/** Calls a procedure by name; the service validates the input. */
export async function call(
  client: Client,
  noun: Noun,
  verb: string,
  input: JsonObject,
  options: object = {},
): Promise<JsonObject> {
  type Call = (input: JsonObject, options: object) => Promise<JsonObject>
  const procedure: { query: Call; mutate: Call } | undefined = Reflect.get(client[noun], verb)
  if (procedure === undefined) throw new Error(`${noun} has no ${verb}`)
  return proceduresOf(noun)[verb]?.type === 'query' ? procedure.query(input, options) : procedure.mutate(input, options)
}

const APPLY: string = 'apply' satisfies keyof Client

/** Carries out what a preview has shown, by the name of the procedure. */
export function apply(client: Client, operation: string, input: JsonObject, options: ApplyOptions): Promise<Applied> {
  return Reflect.get(client, APPLY)(operation, input, options)
}
