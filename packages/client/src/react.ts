import type { AppRouter, Output } from '@resource/contract'
import {
  type InfiniteData,
  type QueryClient,
  type UseInfiniteQueryOptions,
  useQueryClient,
} from '@tanstack/react-query'
import { createTRPCOptionsProxy, type TRPCOptionsProxy } from '@trpc/tanstack-react-query'
import { createContext, createElement, type ReactNode, useContext, useMemo } from 'react'
import type { Client } from './index.ts'
import type { Noun, Walk } from './lists.ts'

type Page<N extends Noun> = Output<N, 'list'>
type ListQuery<N extends Noun> = (input: object, options: { signal: AbortSignal }) => Promise<Page<N>>

/** What `useInfiniteQuery` takes for a list. */
export type PagesOptions<N extends Noun> = UseInfiniteQueryOptions<
  Page<N>,
  Error,
  InfiniteData<Page<N>, string>,
  readonly unknown[],
  string
>

/** `queryOptions`, `mutationOptions` and keys of each procedure, and for each noun its list page by page. */
export type ResourceOptions = TRPCOptionsProxy<AppRouter> & {
  [N in Noun]: {
    /** For `useInfiniteQuery`: the list along its cursor, `limit` records a page. */
    pagesOptions: (input?: Walk<N>) => PagesOptions<N>
  }
}

interface Options extends Record<string, unknown> {
  onSettled?: (...args: unknown[]) => unknown
}

/**
 * TanStack Query options for every procedure. A mutation invalidates every query of its noun once it has ended, however
 * it ended: a write that failed for its caller may have happened, or failed because the cache is old. It is pending
 * until what is on show has been read again. Queries are not retried by TanStack, because the client does.
 */
export function createResourceOptions(client: Client, queryClient: QueryClient): ResourceOptions {
  // The client is tRPC's own under more names.
  const proxy = createTRPCOptionsProxy<AppRouter>({ client: client as never, queryClient })
  return new Proxy(proxy as ResourceOptions, {
    get(target, noun) {
      const procedures = Reflect.get(target, noun)
      if (typeof noun === 'symbol' || procedures === undefined) return procedures
      return new Proxy(procedures, {
        get(inner, verb) {
          if (verb === 'pagesOptions') return (input?: Walk<Noun>) => pagesOptions(client, noun as Noun, input)
          const procedure = Reflect.get(inner, verb)
          if (typeof verb === 'symbol') return procedure
          return decorated(procedure, () => queryClient.invalidateQueries({ queryKey: [[noun]] }))
        },
      })
    },
  })
}

function decorated(procedure: object, invalidate: () => Promise<unknown>): object {
  return new Proxy(procedure, {
    get(target, name) {
      const build = Reflect.get(target, name)
      if (name === 'queryOptions')
        return (input: unknown, options?: object) => build(input, { retry: false, ...options })
      if (name !== 'mutationOptions') return build
      return (options: Options = {}) =>
        build({
          ...options,
          onSettled: async (...args: unknown[]) => {
            await options.onSettled?.(...args)
            await invalidate()
          },
        })
    },
  })
}

function pagesOptions<N extends Noun>(client: Client, noun: N, input?: Walk<N>): PagesOptions<N> {
  const list = client[noun].list.query as unknown as ListQuery<N>
  return {
    queryKey: [[noun, 'list'], { input, type: 'infinite' }],
    queryFn: ({ pageParam, signal }) => list({ ...input, after: pageParam }, { signal }),
    initialPageParam: '',
    getNextPageParam: (page) => (page as { next: string | null }).next,
    retry: false,
  }
}

const ClientContext = createContext<Client | undefined>(undefined)

/** Gives the client to `useResource` below it; stands inside TanStack's `QueryClientProvider`. */
export function ResourceProvider({ client, children }: { client: Client; children?: ReactNode }) {
  return createElement(ClientContext, { value: client }, children)
}

/**
 * The options of {@link createResourceOptions} with the client of the provider above.
 *
 * @throws Error where no `ResourceProvider` stands above
 */
export function useResource(): ResourceOptions {
  const client = useContext(ClientContext)
  const queryClient = useQueryClient()
  if (client === undefined) throw new Error('useResource needs a ResourceProvider above it')
  return useMemo(() => createResourceOptions(client, queryClient), [client, queryClient])
}
