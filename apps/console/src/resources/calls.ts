import { type CallOptions, createIdempotencyKey, type GroupOptions, type Output, uuidOf } from '@resource/client'
import type { RowResult as Result } from '@resource/import'
import { background, client, writer } from '../client.ts'
import type { Noun, Row } from './resource.ts'

/** Methods, whose inputs may be those of one noun. */
interface Query<T> {
  query(input: object, options?: CallOptions): Promise<T>
}
interface Mutation<T> {
  mutate(input: object, options?: CallOptions): Promise<T>
}

/**
 * A page of a noun's list: its records under the noun, and the cursor of the next page, null on the last. `searched` is the
 * number of records that a search without an index covered.
 */
export type Page = { next: string | null; total?: number; searched?: number; changes_cursor?: string } & Record<
  string,
  unknown
>

/** The records with one value of a field, or all records with the value null. */
export interface Summary {
  value: string | null
  count: number
  minimum: number | null
  mean: number | null
  maximum: number | null
}

/** The service searches for words of this length. */
export const SHORTEST_WORD = 2

/** For calls that change many records, which take long. */
export const LONG_TIMEOUTS = { attemptTimeoutMs: 120_000, timeoutMs: 240_000 }

/** The outcome of a row of a change of many records. */
export interface RowResult extends Result {
  /** The stored record; absent if the row failed or was deleted. */
  record?: Row
}

/** What a write would do. */
export type Preview = Output<'previews', 'create'>

interface Reads {
  list: Query<Page>
  summarize: Query<{ summaries: Summary[]; as_of: string }>
  get: Query<Row>
  /** All pages of the list, by cursor. */
  pages: (input: object, options?: CallOptions) => AsyncGenerator<Page>
}

interface Writes {
  create: Mutation<Row>
  createMany: Mutation<Record<string, unknown>>
  updateMany: Mutation<{ results: RowResult[] }>
  /** Throws VersionMismatchError if the record's version is not `if_version`, as do `replace` and `delete`. */
  update: Mutation<Row>
  replace: Mutation<Row>
  delete: Mutation<object>
}

/** The procedures of any noun that read. The cast is safe because the contract's tests require these procedures of each noun. */
export function calls(noun: Noun): Reads {
  return client[noun] as Reads
}

/** The number of all records of a noun. No other call waits for it. */
export const summarizeAlone = (noun: Noun, options: CallOptions) =>
  (background[noun] as Reads).summarize.query({}, options)

/** Those that write. Each call has a request of its own. */
export function writes(noun: Noun): Writes {
  return writer[noun] as Writes
}

/** The id of a new group of requests, which can be undone together. */
export function newGroup(): string {
  return uuidOf(createIdempotencyKey())
}

interface Applying {
  apply(operation: string, input: object, options: GroupOptions & { preview: Preview; group: string }): Promise<object>
}

/**
 * Carries out exactly what a preview has shown, in several requests if it has steps. With the same group and preview it continues
 * after a failure.
 *
 * @throws VersionMismatchError at the first step that would do something else
 */
export const apply: Applying['apply'] = (...call) => (writer as Applying).apply(...call)

/** What a write would do, by the procedure's name. */
export function previewOf(operation: string, input: object): Promise<Preview> {
  return client.previews.create.mutate({ operation, input: { ...input } }, LONG_TIMEOUTS)
}
