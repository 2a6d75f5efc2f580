import type { Contract } from '@resource/contract'
import { createResourceOptionsOf, type OptionsTo } from '@resource/openapi/query'
import type { QueryClient } from '@tanstack/react-query'
import type { Api } from './api.ts'
import type { Client } from './index.ts'

/** `queryOptions`, `mutationOptions` and keys of each procedure, and the paged list of each noun. */
export interface ResourceOptions extends OptionsTo<Api> {}

/**
 * TanStack Query options for every procedure, for any framework and for servers. A mutation invalidates every query of its
 * noun and the audit log, and one of `reversals` or `proposals` every query, when it has settled, even after a failure: the
 * write may have happened, or may have failed because the cache was stale. The mutation stays pending until the active queries have been refetched. A mutation that
 * TanStack retries keeps its idempotency key. TanStack does not retry queries, because the client does.
 */
export function createResourceOptions(client: Client, queryClient: QueryClient): ResourceOptions {
  const staleAfter = (noun: string) => (ANY_NOUN.includes(noun) ? undefined : [noun, 'audit'])
  return createResourceOptionsOf<Contract>(client, queryClient, { staleAfter })
}

/** The nouns whose writes change records of any noun. */
export const ANY_NOUN = ['reversals', 'proposals']

export type {
  DataKey,
  MutationProcedure,
  NounOptions,
  PagesOptions,
  PagesSettings,
  QueryOptions,
  QueryProcedure,
  QuerySettings,
  SkippablePagesOptions,
  SkippableQueryOptions,
} from '@resource/openapi/query'
