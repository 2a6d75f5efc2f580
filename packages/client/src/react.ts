'use client'
import { useQueryClient } from '@tanstack/react-query'
import { createContext, createElement, type ReactElement, type ReactNode, useContext, useMemo } from 'react'
import type { Client } from './index.ts'
import { createResourceOptions, type ResourceOptions } from './query.ts'

const ClientContext = createContext<Client | undefined>(undefined)

export interface ResourceProviderProps {
  client: Client
  children?: ReactNode
}

/** Provides the client to `useResource`. Requires TanStack's `QueryClientProvider` above it. */
export function ResourceProvider({ client, children }: ResourceProviderProps): ReactElement {
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
