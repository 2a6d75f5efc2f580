'use client'
import { useQueryClient } from '@tanstack/react-query'
import { createContext, createElement, type ReactElement, type ReactNode, useContext, useEffect, useMemo } from 'react'
import type { Client } from './index.ts'
import { createResourceOptions, type ResourceOptions } from './query.ts'

const ClientContext = createContext<Client | undefined>(undefined)

export interface ResourceProviderProps {
  client: Client
  /**
   * Whether queries stay true while others write, over one stream to the service. A changed record replaces an older version in
   * the cache, and other queries of its resource are fetched again, at most twice a second. Default: false.
   */
  live?: boolean | undefined
  children?: ReactNode
}

/** Provides the client to `useResource`. Requires TanStack's `QueryClientProvider` above it. */
export function ResourceProvider({ client, live = false, children }: ResourceProviderProps): ReactElement {
  const queryClient = useQueryClient()
  useEffect(() => {
    if (!live) return
    const abort = new AbortController()
    // Loaded at its first use, because most pages do not need it.
    void import('./live.ts').then(({ keepLive }) => keepLive(client, queryClient, abort.signal))
    return () => abort.abort()
  }, [client, queryClient, live])
  return createElement(ClientContext, { value: client }, children)
}

/**
 * The options of {@link createResourceOptions} with the client of the provider above.
 *
 * @throws Error without a `ResourceProvider` above
 */
export function useResource(): ResourceOptions {
  const client = useContext(ClientContext)
  const queryClient = useQueryClient()
  if (client === undefined) throw new Error('useResource must be used inside a ResourceProvider')
  return useMemo(() => createResourceOptions(client, queryClient), [client, queryClient])
}

export * from './query.ts'
