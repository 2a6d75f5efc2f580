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

/** Gives the client to `useResource` below it; stands inside TanStack's `QueryClientProvider`. */
export function ResourceProvider({ client, children }: ResourceProviderProps): ReactElement {
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

export { createResourceOptions, type ResourceOptions }
