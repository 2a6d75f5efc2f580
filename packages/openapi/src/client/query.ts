import type {
  dataTagErrorSymbol,
  dataTagSymbol,
  InfiniteData,
  QueryClient,
  QueryFilters,
  QueryFunction,
  SkipToken,
  UseInfiniteQueryOptions,
  UseMutationOptions,
  UseQueryOptions,
} from '@tanstack/react-query'
import type { CallInput, Contract, ProcedureTypes, TypesOf } from '../contract.ts'
import { type CallOptions, randomKey } from './calls.ts'
import type { ClientOf } from './client.ts'
import type { ServiceError } from './errors.ts'
import type { IterateInput, Page } from './lists.ts'

type Key = readonly unknown[]

/** A query key with the type of its data, for `getQueryData` and `setQueryData`. Unlike TanStack's type, it has a name. */
export interface DataKey<Data> extends Key {
  [dataTagSymbol]: Data
  [dataTagErrorSymbol]: ServiceError
}
type Settings<Options> = Omit<
  Options,
  'queryKey' | 'queryFn' | 'initialPageParam' | 'getNextPageParam' | 'mutationKey' | 'mutationFn'
>

/** The settings of a query that its caller may choose. */
export type QuerySettings<Output, Data = Output> = Settings<UseQueryOptions<Output, ServiceError, Data, Key>>

/** TanStack Query options of a query. */
export interface QueryOptions<Output, Data = Output> extends QuerySettings<Output, Data> {
  queryKey: DataKey<Output>
  queryFn: QueryFunction<Output, Key>
}

/** {@link QueryOptions} whose input may be TanStack's `skipToken`. */
export interface SkippableQueryOptions<Output, Data = Output> extends QuerySettings<Output, Data> {
  queryKey: DataKey<Output>
  queryFn: QueryFunction<Output, Key> | SkipToken
}

/** TanStack Query options and keys of a query procedure. */
export interface QueryProcedure<Input, Output> {
  queryKey: (input?: Input) => DataKey<Output>
  /** Matches the queries of the procedure with one input, or with any input. */
  queryFilter: (input?: Input, filters?: QueryFilters) => QueryFilters
  queryOptions: {
    <Data = Output>(input: Input, options?: QuerySettings<Output, Data>): QueryOptions<Output, Data>
    <Data = Output>(
      input: Input | SkipToken,
      options?: QuerySettings<Output, Data>,
    ): SkippableQueryOptions<Output, Data>
  }
}

/** TanStack Query options and key of a mutation procedure. */
export interface MutationProcedure<Input, Output> {
  mutationKey: () => Key
  mutationOptions: <Context = unknown>(
    options?: Settings<UseMutationOptions<Output, ServiceError, Input, Context>>,
  ) => UseMutationOptions<Output, ServiceError, Input, Context>
}

/** The settings of a paged list that its caller may choose. */
export type PagesSettings<Page, Data = InfiniteData<Page, string>> = Settings<
  UseInfiniteQueryOptions<Page, ServiceError, Data, Key, string>
>

/** TanStack Query options of a list by cursor, for infinite queries. */
export interface PagesOptions<Page, Data = InfiniteData<Page, string>> extends PagesSettings<Page, Data> {
  queryKey: DataKey<InfiniteData<Page, string>>
  queryFn: QueryFunction<Page, Key, string>
  initialPageParam: string
  getNextPageParam: (page: Page) => string | null
}

/** {@link PagesOptions} whose input may be TanStack's `skipToken`. */
export interface SkippablePagesOptions<Page, Data = InfiniteData<Page, string>> extends PagesSettings<Page, Data> {
  queryKey: DataKey<InfiniteData<Page, string>>
  queryFn: QueryFunction<Page, Key, string> | SkipToken
  initialPageParam: string
  getNextPageParam: (page: Page) => string | null
}

interface NounProcedures<Input, Page> {
  /** The common key prefix of all queries of the noun. */
  pathKey: () => Key
  pathFilter: (filters?: QueryFilters) => QueryFilters
  /** Options for infinite queries: the list by cursor, `limit` records per page. */
  pagesOptions: {
    <Data = InfiniteData<Page, string>>(input?: Input, options?: PagesSettings<Page, Data>): PagesOptions<Page, Data>
    <Data = InfiniteData<Page, string>>(
      input?: Input | SkipToken,
      options?: PagesSettings<Page, Data>,
    ): SkippablePagesOptions<Page, Data>
  }
}

/** The TanStack Query options of a procedure. */
export type ProcedureOptions<P> = P extends ProcedureTypes
  ? P['type'] extends 'query'
    ? QueryProcedure<CallInput<P['input']>, P['output']>
    : MutationProcedure<CallInput<P['input']>, P['output']>
  : never

/** The TanStack Query options of the procedures of a noun, and of its paged list. */
export type NounOptions<A, N extends keyof A> = { [V in keyof A[N]]: ProcedureOptions<A[N][V]> } & NounProcedures<
  IterateInput<A[N]>,
  Page<A[N]>
>

/** TanStack Query options by the types of the procedures. */
export type OptionsTo<A> = { [N in keyof A]: NounOptions<A, N> }

/** TanStack Query options for the procedures of a contract. */
export type ResourceOptionsOf<C extends Contract> = OptionsTo<TypesOf<C>>

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
  const nouns: object = client
  const invalidate = (noun: string) =>
    Promise.all(staleAfter(noun).map((stale) => queryClient.invalidateQueries({ queryKey: [[stale]] })))
  return byName((noun) => {
    const calls: Record<string, Calls> = Reflect.get(nouns, noun)
    const own: Record<string, unknown> = {
      pathKey: () => [[noun]],
      pathFilter: (filters?: QueryFilters) => ({ ...filters, queryKey: [[noun]] }),
      pagesOptions: (input?: PagesInput | symbol, options?: object) =>
        pagesOptions(noun, calls.list as Calls, input, options),
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
