import type { Contract } from '@resource/contract'
import { createResourceOptionsOf, type ResourceOptionsOf } from '@resource/openapi/react'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
// Whole, and its context made late: under `react-server` React has none, and the options serve there too.
import * as React from 'react'
import type { Client } from './index.ts'

/** `queryOptions`, `mutationOptions` and keys of each procedure, and for each noun its list page by page. */
export type ResourceOptions = ResourceOptionsOf<Contract>

/**
 * TanStack Query options for every procedure. A mutation invalidates every query of its noun and the audit log once it
 * has ended, however it ended: a write that failed for its caller may have happened, or failed because the cache is old.
 * It is pending until what is on show has been read again. Where TanStack repeats a mutation, it has the same idempotency
 * key. Queries are not repeated by TanStack, because the client does.
 */
export function createResourceOptions(client: Client, queryClient: QueryClient): ResourceOptions {
  return createResourceOptionsOf<Contract>(client, queryClient, { staleAfter: (noun) => [noun, 'audit'] })
}

let context: React.Context<Client | undefined> | undefined

function clientContext(): React.Context<Client | undefined> {
  context ??= React.createContext<Client | undefined>(undefined)
  return context
}

export interface ResourceProviderProps {
  client: Client
  children?: React.ReactNode
}

/** Gives the client to `useResource` below it; stands inside TanStack's `QueryClientProvider`. */
export function ResourceProvider({ client, children }: ResourceProviderProps): React.ReactElement {
  return React.createElement(clientContext().Provider, { value: client }, children)
}

/**
 * The options of {@link createResourceOptions} with the client of the provider above.
 *
 * @throws Error where no `ResourceProvider` stands above
 */
export function useResource(): ResourceOptions {
  const client = React.useContext(clientContext())
  const queryClient = useQueryClient()
  if (client === undefined) throw new Error('useResource needs a ResourceProvider above it')
  return React.useMemo(() => createResourceOptions(client, queryClient), [client, queryClient])
}
