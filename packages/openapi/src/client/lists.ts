import type { z } from 'zod'
import type { AnyErrorData, Procedure, Procedures } from '../contract.ts'
import type { CallOptions } from './calls.ts'

/** A page of a list as its procedure gives it. */
export type Page<P extends Procedures> =
  P['list'] extends Procedure<'query', z.ZodType, infer Output, AnyErrorData> ? z.output<Output> : never

type RecordsOf<Page, N> = N extends keyof Page ? Page[N] : never

/** A record of a noun as its list shows it. */
export type ListedRecord<P extends Procedures, N> = RecordsOf<Page<P>, N> extends (infer R)[] ? R : never

export interface Lists<P extends Procedures, N> {
  /** Every record that matches, one after the other, fetched page by page along the cursor. */
  iterate: (input?: Walk<P>, options?: CallOptions) => AsyncGenerator<ListedRecord<P, N>, void, undefined>
  /** The same, a page at a time. */
  pages: (input?: Walk<P>, options?: CallOptions) => AsyncGenerator<Page<P>, void, undefined>
}

/** What a walk takes: filters, sort, `limit` as the size of its pages, and `after`, the cursor to start from. */
export type Walk<P extends Procedures> =
  P['list'] extends Procedure<'query', infer Input> ? Partial<Omit<z.input<Input>, 'page' | 'count'>> : never

type ListQuery = (input: object, options?: CallOptions) => Promise<unknown>

/** Walks a list by cursor, so that the last page costs what the first does. */
export function lists(noun: string, query: ListQuery) {
  async function* pages(input: { after?: string } = {}, options?: CallOptions) {
    let after: string | null = input.after ?? ''
    while (after !== null) {
      const page = (await query({ ...input, after }, options)) as { next: string | null }
      yield page
      after = page.next
    }
  }
  async function* iterate(input?: { after?: string }, options?: CallOptions) {
    for await (const page of pages(input, options)) yield* (page as unknown as Record<string, unknown[]>)[noun] ?? []
  }
  return { pages, iterate }
}
