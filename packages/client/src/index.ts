import type { AppRouter } from '@resource/contract'
import { createTRPCClient, httpBatchLink, type TRPCClient } from '@trpc/client'

export type Client = TRPCClient<AppRouter>

export interface ClientOptions {
  /** Where the service is: `http://127.0.0.1:3000`. */
  baseUrl: string
  headers?: Record<string, string>
}

/** A client of the service, typed by its contract. Calls made in the same tick travel in one request. */
export function createClient({ baseUrl, headers = {} }: ClientOptions): Client {
  return createTRPCClient<AppRouter>({ links: [httpBatchLink({ url: new URL('/trpc', baseUrl), headers })] })
}
