import type { AppRouter, Contract } from '@resource/contract'
import { CONTRACT_HASH } from '@resource/contract/hash'
import { createTRPCClient, httpBatchLink, splitLink, type TRPCClient, type TRPCLink } from '@trpc/client'
import { type AttemptOptions, attemptsLink } from './attempts.ts'
import { checkLink } from './check.ts'
import { type Lists, lists, type Noun } from './lists.ts'
import { keepingMark } from './own-writes.ts'

/** Every procedure of the contract (`query` or `mutate`), and for each noun its lists as async iterators. */
export type Client = TRPCClient<AppRouter> & { [N in Noun]: Lists<N> }

export interface CallOptions extends AttemptOptions {
  /**
   * The contract of `@resource/client/contract`, to check each answer against it; an answer that breaks it is a
   * `ContractError`. Brings zod into the bundle.
   */
  check?: Contract
}

export interface ClientOptions extends CallOptions {
  /** Where the service is, below whatever path: `http://127.0.0.1:3000`. */
  baseUrl: string
  /** An API key, or a token of the identity provider; a function is asked for it with every request. */
  apiKey?: string | (() => string | undefined | Promise<string | undefined>)
  headers?: Record<string, string>
  /** Told each time the service refuses the credentials: time to log in. */
  onUnauthorized?: () => void
}

// As many calls as a request may carry, and as long a URL as every proxy lets through.
const MOST_CALLS = 50
const LONGEST_URL = 4000

/**
 * A client of the service, typed by its contract. Calls made in the same tick travel in one request, but for bulk
 * creates: each may be as large as a request.
 *
 * Every call throws a `ServiceError` of the class of its kind. Its options are tRPC's: `signal` ends it, and `context`
 * may carry `timeoutMs`, `attemptTimeoutMs` and `retryForMs` for this call alone.
 */
export function createClient({ baseUrl, apiKey, headers = {}, onUnauthorized, ...options }: ClientOptions): Client {
  const send = keepingMark()
  const connection = {
    url: `${baseUrl.replace(/\/$/, '')}/trpc`,
    headers: async () => {
      const key = typeof apiKey === 'function' ? await apiKey() : apiKey
      const credentials = key !== undefined && { Authorization: `Bearer ${key}` }
      // The hash is that by which the service notices clients of another contract.
      return { 'X-Contract': CONTRACT_HASH, ...credentials, ...headers }
    },
    fetch: async (...request: Parameters<typeof send>) => {
      const response = await send(...request)
      if (response.status === 401) onUnauthorized?.()
      return response
    },
    maxURLLength: LONGEST_URL,
  }
  const transport = splitLink<AppRouter>({
    condition: ({ path }) => path.endsWith('.createMany'),
    true: httpBatchLink({ ...connection, maxItems: 1 }),
    false: httpBatchLink({ ...connection, maxItems: MOST_CALLS }),
  })
  return clientOver(transport, options)
}

/** The client over any tRPC transport, which is the last link: for a service in the same process, say. */
export function clientOver(transport: TRPCLink<AppRouter>, { check, ...attempts }: CallOptions = {}): Client {
  const checks = check === undefined ? [] : [checkLink(check)]
  const client = createTRPCClient<AppRouter>({ links: [...checks, attemptsLink(attempts), transport] })
  return new Proxy(client as Client, {
    get(target, noun) {
      const procedures = Reflect.get(target, noun)
      // `then`, asked for by `await`, and tRPC's own symbols are no nouns.
      if (procedures === undefined || typeof noun === 'symbol') return procedures
      const walks: object = lists(noun as Noun, (input, options) => procedures.list.query(input, options))
      return new Proxy(procedures, { get: (inner, verb) => Reflect.get(verb in walks ? walks : inner, verb) })
    },
  })
}

export * from './errors.ts'
export type { ListedRecord, Lists, Walk } from './lists.ts'
