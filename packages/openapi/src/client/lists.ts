import type { CallOptions } from './calls.ts'

type ListOf<Verbs> = Verbs extends { list: infer P } ? P : never

/** A page of a list: the output of the `list` procedure. */
export type Page<Verbs> = ListOf<Verbs> extends { output: infer Output } ? Output : never

type RecordsOf<Page, N> = N extends keyof Page ? Page[N] : never

/** A record in the list of a noun. */
export type ListedRecord<Verbs, N> = RecordsOf<Page<Verbs>, N> extends (infer R)[] ? R : never

export interface Lists<Verbs, N> {
  /** Iterates over all matching records. Fetches them page by page with the cursor. */
  iterate: (
    input?: IterateInput<Verbs>,
    options?: CallOptions,
  ) => AsyncGenerator<ListedRecord<Verbs, N>, void, undefined>
  /** Iterates over all matching records, one page at a time. */
  pages: (input?: IterateInput<Verbs>, options?: CallOptions) => AsyncGenerator<Page<Verbs>, void, undefined>
}

/**
 * The input of `iterate` and `pages`: filters, `sort`, `limit` as the page size, `after` as the start cursor, and `count` for
 * the total on the first page.
 */
export type IterateInput<Verbs> = ListOf<Verbs> extends { input: infer Input } ? Partial<Omit<Input, 'page'>> : never

type ListQuery = (input: object, options?: CallOptions) => Promise<unknown>

type Found = { next?: string | null; [records: string]: unknown }

/** The iterators of a list. They page by cursor, so that the last page costs the same as the first. */
export function lists(noun: string, query: ListQuery) {
  async function* pages(
    { after = '', count, ...input }: { after?: string; count?: boolean } = {},
    options?: CallOptions,
  ) {
    const read = (place: object) => query({ ...input, ...place }, options) as Promise<Found>
    let page = await read({ after, ...(count && { count }) })
    for (; typeof page.next === 'string'; page = await read({ after: page.next })) yield page
    yield page
  }
  async function* iterate(input?: { after?: string }, options?: CallOptions) {
    for await (const page of pages(input, options)) yield* (page[noun] as unknown[] | undefined) ?? []
  }
  return { pages, iterate }
}
