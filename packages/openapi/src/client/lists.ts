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

/** The input of `iterate` and `pages`: filters, `sort`, `limit` as the page size, and `after` as the start cursor. */
export type IterateInput<Verbs> =
  ListOf<Verbs> extends { input: infer Input } ? Partial<Omit<Input, 'page' | 'count'>> : never

type ListQuery = (input: object, options?: CallOptions) => Promise<unknown>

/** The iterators of a list. They page by cursor, so that the last page costs the same as the first. */
export function lists(noun: string, query: ListQuery) {
  async function* pages(input: { after?: string } = {}, options?: CallOptions) {
    let after: string | null = input.after ?? ''
    while (after !== null) {
      const page = (await query({ ...input, after }, options)) as { next: string | null; [records: string]: unknown }
      yield page
      after = page.next
    }
  }
  async function* iterate(input?: { after?: string }, options?: CallOptions) {
    for await (const page of pages(input, options)) yield* (page[noun] as unknown[] | undefined) ?? []
  }
  return { pages, iterate }
}
