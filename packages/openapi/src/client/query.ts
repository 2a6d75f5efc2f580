import type { QueryClient } from '@tanstack/react-query'
import type { Contract } from '../contract.ts'
import { byName } from './by-name.ts'
import type { CallOptions } from './calls.ts'
import type { ClientOf } from './client.ts'
import type { Key, ResourceOptionsOf } from './query-types.ts'
import { randomKey } from './random-key.ts'

export type {
  DataKey,
  MutationProcedure,
  NounOptions,
  OptionsTo,
  PagesOptions,
  PagesSettings,
  ProcedureOptions,
  QueryOptions,
  QueryProcedure,
  QuerySettings,
  ResourceOptionsOf,
  SkippablePagesOptions,
  SkippableQueryOptions,
} from './query-types.ts'

export interface ResourceOptionsSettings {
  /** The nouns whose queries a mutation of `noun` makes stale; undefined for all queries. Default: only that noun. */
  staleAfter?: (noun: string) => string[] | undefined
}

/** The client methods of any procedure. */
interface Calls {
  query: (input: unknown, options?: CallOptions) => Promise<unknown>
  mutate: (input: unknown, options?: CallOptions) => Promise<unknown>
}

/**
 * TanStack Query options for every procedure. A mutation invalidates the queries of its noun when it has settled, even
 * after a failure: the write may have happened, or may have failed because the cache was stale. The mutation stays
 * pending until the active queries have been refetched. A mutation that TanStack retries keeps its idempotency key.
 * TanStack does not retry queries, because the client does.
 */
export function createResourceOptionsOf<C extends Contract>(
  client: ClientOf<C>,
  queryClient: QueryClient,
  { staleAfter = (noun) => [noun] }: ResourceOptionsSettings = {},
): ResourceOptionsOf<C> {
  const nouns: object = client
  const invalidate = async (noun: string) => {
    const keys = staleAfter(noun)?.map((stale) => ({ queryKey: [[stale]] })) ?? [{}]
    await Promise.all(keys.map((filters) => queryClient.invalidateQueries(filters)))
  }
  return byName((noun) => {
    const calls: Record<string, Calls> = Reflect.get(nouns, noun)
    const own: Record<string, unknown> = {
      pathKey: () => [[noun]],
      pagesOptions: (input?: PagesInput | symbol, options?: object) =>
        pagesOptions(noun, calls.list as Calls, input, options),
    }
    const procedureOf = (verb: string) => ({
      ...queryOf([noun, verb], calls[verb] as Calls),
      ...mutationOf([noun, verb], calls[verb] as Calls, () => invalidate(noun)),
    })
    return byName(procedureOf, own)
  }) as ResourceOptionsOf<C>
}

/** The keys have the format of tRPC's TanStack integration. */
function queryOf(path: string[], calls: Calls) {
  const keyOf = (input: unknown): Key => [
    path,
    { ...(input !== undefined && typeof input !== 'symbol' && { input }), type: 'query' },
  ]
  return {
    queryKey: keyOf,
    queryOptions: (input?: unknown, options?: object) => ({
      retry: false,
      ...options,
      queryKey: keyOf(input),
      // TanStack's skipToken is a symbol.
      queryFn:
        typeof input === 'symbol' ? input : ({ signal }: { signal: AbortSignal }) => calls.query(input, { signal }),
    }),
  }
}

function mutationOf(path: string[], calls: Calls, invalidate: () => Promise<unknown>) {
  return {
    mutationKey: () => [path],
    mutationOptions: (options: { onSettled?: (...args: unknown[]) => unknown } = {}) => ({
      ...options,
      mutationKey: [path],
      mutationFn: (input: unknown, context?: object) => calls.mutate(input, { idempotencyKey: keyOf(context) }),
      onSettled: async (...args: unknown[]) => {
        try {
          await options.onSettled?.(...args)
        } finally {
          await invalidate()
        }
      },
    }),
  }
}

// TanStack passes the same context object to all attempts of a mutation.
const keys = new WeakMap<object, string>()

function keyOf(context: object | undefined): string | undefined {
  if (context === undefined) return undefined
  const known = keys.get(context) ?? randomKey()
  keys.set(context, known)
  return known
}

interface PagesInput {
  after?: string
}

function pagesOptions(noun: string, { query }: Calls, input: PagesInput | symbol = {}, options?: object) {
  const given = typeof input === 'symbol' ? {} : input
  return {
    retry: false,
    ...options,
    queryKey: [[noun, 'list'], { input: given, type: 'infinite' }],
    queryFn:
      typeof input === 'symbol'
        ? input
        : ({ pageParam, signal }: { pageParam: string; signal: AbortSignal }) =>
            query({ ...input, after: pageParam }, { signal }),
    initialPageParam: given.after ?? '',
    getNextPageParam: ({ next }: { next: string | null }) => next,
  }
}
