import type { Contract, Input, Output } from '@resource/contract'
import type { TRPCRequestOptions } from '@trpc/client'

/** The nouns of the contract that can be listed. */
export type Noun = keyof Contract

type ListInput<N extends Noun> = Partial<Input<N, 'list'>>
type Page<N extends Noun> = Output<N, 'list'>
type RecordsOf<P, N> = N extends keyof P ? P[N] : never

/** A record of the noun as its list shows it. */
export type ListedRecord<N extends Noun> = RecordsOf<Page<N>, N> extends (infer R)[] ? R : never

export interface Lists<N extends Noun> {
  /** Every record that matches, one after the other, fetched page by page along the cursor. */
  iterate: (input?: Walk<N>, options?: TRPCRequestOptions) => AsyncGenerator<ListedRecord<N>, void, undefined>
  /** The same, a page at a time. */
  pages: (input?: Walk<N>, options?: TRPCRequestOptions) => AsyncGenerator<Page<N>, void, undefined>
}

/** What a walk takes: filters, sort, and `limit` as the size of its pages. */
export type Walk<N extends Noun> = Omit<ListInput<N>, 'page' | 'after' | 'count'>

type ListQuery<N extends Noun> = (input: ListInput<N>, options?: TRPCRequestOptions) => Promise<Page<N>>

/** Walks the list of `noun` by cursor, so that the last page costs what the first does. */
export function lists<N extends Noun>(noun: N, query: ListQuery<N>): Lists<N> {
  async function* pages(input: Walk<N> = {} as Walk<N>, options?: TRPCRequestOptions) {
    let after: string | null = ''
    while (after !== null) {
      const page: Page<N> = await query({ ...input, after } as ListInput<N>, options)
      yield page
      after = (page as { next: string | null }).next
    }
  }
  async function* iterate(input?: Walk<N>, options?: TRPCRequestOptions) {
    for await (const page of pages(input, options)) {
      yield* (page as unknown as Record<N, ListedRecord<N>[]>)[noun]
    }
  }
  return { pages, iterate }
}
