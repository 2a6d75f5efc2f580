import type { Contract } from '@resource/contract'
import { createResourceOptionsOf, type ResourceOptionsOf } from '@resource/openapi/query'
import type { QueryClient } from '@tanstack/react-query'
import type { Client } from './index.ts'

/** `queryOptions`, `mutationOptions` and keys of each procedure, and for each noun its list page by page. */
export type ResourceOptions = ResourceOptionsOf<Contract>

/**
 * TanStack Query options for every procedure, for any framework and for servers. A mutation invalidates every query of its
 * noun and the audit log once it has ended, however it ended: a write that failed for its caller may have happened, or
 * failed because the cache is old. It is pending until what is on show has been read again. Where TanStack repeats a
 * mutation, it has the same idempotency key. Queries are not repeated by TanStack, because the client does.
 */
export function createResourceOptions(client: Client, queryClient: QueryClient): ResourceOptions {
  return createResourceOptionsOf<Contract>(client, queryClient, { staleAfter: (noun) => [noun, 'audit'] })
}
