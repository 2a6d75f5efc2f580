import type {
  dataTagErrorSymbol,
  dataTagSymbol,
  InfiniteData,
  QueryFunction,
  SkipToken,
  UseInfiniteQueryOptions,
  UseMutationOptions,
  UseQueryOptions,
} from '@tanstack/react-query'
import type { CallInput, Contract, ProcedureTypes, TypesOf } from '../contract.ts'
import type { ServiceError } from './errors.ts'
import type { IterateInput, Page } from './lists.ts'

export type Key = readonly unknown[]

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
