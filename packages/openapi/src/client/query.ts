import type {
  DataTag,
  InfiniteData,
  QueryClient,
  QueryFilters,
  QueryFunction,
  SkipToken,
  UseInfiniteQueryOptions,
  UseMutationOptions,
  UseQueryOptions,
} from '@tanstack/react-query'
import type { z } from 'zod'
import type { AnyErrorData, Contract, Procedure, Procedures } from '../contract.ts'
import { type CallOptions, randomKey } from './calls.ts'
import type { ClientOf } from './client.ts'
import type { ServiceError } from './errors.ts'
import type { IterateInput, Page } from './lists.ts'

type Key = readonly unknown[]

/** TanStack Query options of a query. */
export interface QueryOptionsOf<Input, Output> {
  queryKey: (input?: Input) => DataTag<Key, Output, ServiceError>
  /** Matches the queries of the procedure with one input, or with any input. */
  queryFilter: (input?: Input, filters?: QueryFilters) => QueryFilters
  queryOptions: {
    <Data = Output>(
      input: Input,
      options?: Settings<UseQueryOptions<Output, ServiceError, Data, Key>>,
    ): Query<Output, Data>
    <Data = Output>(
      input: Input | SkipToken,
      options?: Settings<UseQueryOptions<Output, ServiceError, Data, Key>>,
    ): UseQueryOptions<Output, ServiceError, Data, Key> & { queryKey: DataTag<Key, Output, ServiceError> }
  }
}

type Settings<Options> = Omit<Options, 'queryKey' | 'queryFn' | 'mutationKey' | 'mutationFn'>

type Query<Output, Data> = Settings<UseQueryOptions<Output, ServiceError, Data, Key>> & {
  queryKey: DataTag<Key, Output, ServiceError>
  queryFn: QueryFunction<Output, Key>
}

/** TanStack Query options of a mutation. */
export interface MutationOptionsOf<Input, Output> {
  mutationKey: () => Key
  mutationOptions: <Context = unknown>(
    options?: Settings<UseMutationOptions<Output, ServiceError, Input, Context>>,
  ) => UseMutationOptions<Output, ServiceError, Input, Context>
}

/** The `useInfiniteQuery` options of a list. */
export type PagesOptions<P extends Procedures> = UseInfiniteQueryOptions<
  Page<P>,
  ServiceError,
  InfiniteData<Page<P>, string>,
  Key,
  string
>

// biome-ignore lint/suspicious/noConfusingVoidType: `void` makes an argument optional for TypeScript
type Given<Input extends z.ZodType> = object extends z.input<Input> ? z.input<Input> | void : z.input<Input>

type OptionsOf<P> =
  P extends Procedure<infer Type, infer Input extends z.ZodType, infer Output extends z.ZodType, AnyErrorData>
    ? Type extends 'query'
      ? QueryOptionsOf<Given<Input>, z.output<Output>>
      : MutationOptionsOf<Given<Input>, z.output<Output>>
    : never

interface NounOptions<P extends Procedures> {
  /** The common key prefix of all queries of the noun. */
  pathKey: () => Key
  pathFilter: (filters?: QueryFilters) => QueryFilters
  /** Options for `useInfiniteQuery`: the list by cursor, `limit` records per page. */
  pagesOptions: (input?: IterateInput<P>) => PagesOptions<P>
}

/** The options and keys of each procedure of a contract, and the paged list of each noun. */
export type ResourceOptionsOf<C extends Contract> = {
  [N in keyof C]: { [V in keyof C[N]['procedures']]: OptionsOf<C[N]['procedures'][V]> } & NounOptions<
    C[N]['procedures']
  >
}

export interface ResourceOptionsSettings {
  /** The nouns whose queries a mutation of `noun` makes stale. Default: only that noun. */
  staleAfter?: (noun: string) => string[]
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
  const nouns = client as unknown as Record<string, Record<string, Calls>>
  const invalidate = (noun: string) =>
    Promise.all(staleAfter(noun).map((stale) => queryClient.invalidateQueries({ queryKey: [[stale]] })))
  return byName((noun) => {
    const calls = nouns[noun] as Record<string, Calls>
    const own: Record<string, unknown> = {
      pathKey: () => [[noun]],
      pathFilter: (filters?: QueryFilters) => ({ ...filters, queryKey: [[noun]] }),
      pagesOptions: (input?: { after?: string }) => pagesOptions(noun, calls.list as Calls, input),
    }
    return byName(
      (verb) =>
        own[verb] ?? {
          ...queryOf([noun, verb], calls[verb] as Calls),
          ...mutationOf([noun, verb], calls[verb] as Calls, () => invalidate(noun)),
        },
    )
  }) as ResourceOptionsOf<C>
}

/** An object that creates each property on access. */
function byName(make: (name: string) => unknown): object {
  // `await` looks for `then`.
  return new Proxy({}, { get: (_, name) => (typeof name === 'symbol' || name === 'then' ? undefined : make(name)) })
}

/** The keys have the format of tRPC's TanStack integration. */
function queryOf(path: string[], calls: Calls) {
  const keyOf = (input: unknown): Key => [
    path,
    { ...(input !== undefined && typeof input !== 'symbol' && { input }), type: 'query' },
  ]
  return {
    queryKey: keyOf,
    queryFilter: (input?: unknown, filters?: QueryFilters) => ({ ...filters, queryKey: keyOf(input) }),
    queryOptions: (input?: unknown, options?: object) => ({
      retry: false,
      ...options,
      queryKey: keyOf(input),
      // TanStack's skipToken is a symbol.
      queryFn: typeof input === 'symbol' ? input : () => calls.query(input),
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

function pagesOptions(noun: string, { query }: Calls, input: { after?: string } = {}) {
  return {
    queryKey: [[noun, 'list'], { input, type: 'infinite' }],
    queryFn: ({ pageParam, signal }: { pageParam: string; signal: AbortSignal }) =>
      query({ ...input, after: pageParam }, { signal }),
    initialPageParam: input.after ?? '',
    getNextPageParam: ({ next }: { next: string | null }) => next,
    retry: false,
  }
}
