import type { AppRouter } from '@resource/contract'
import { createTRPCClient, httpBatchLink, type TRPCClient, type TRPCLink } from '@trpc/client'
import { type AttemptOptions, attemptsLink } from './attempts.ts'
import { type Lists, lists, type Noun } from './lists.ts'

/** Every procedure of the contract (`query` or `mutate`), and for each noun its lists as async iterators. */
export type Client = TRPCClient<AppRouter> & { [N in Noun]: Lists<N> }

export interface ClientOptions extends AttemptOptions {
  /** Where the service is, below whatever path: `http://127.0.0.1:3000`. */
  baseUrl: string
  headers?: Record<string, string>
}

// As many calls as a request may carry, and as long a URL as every proxy lets through.
const MOST_CALLS = 50
const LONGEST_URL = 4000

/**
 * A client of the service, typed by its contract. Calls made in the same tick travel in one request.
 *
 * Every call throws a `ServiceError` of the class of its kind. Its options are tRPC's: `signal` ends it, and `context`
 * may carry `timeoutMs`, `attemptTimeoutMs` and `retryForMs` for this call alone.
 */
export function createClient({ baseUrl, headers = {}, ...attempts }: ClientOptions): Client {
  const transport = httpBatchLink<AppRouter>({
    url: `${baseUrl.replace(/\/$/, '')}/trpc`,
    headers,
    maxItems: MOST_CALLS,
    maxURLLength: LONGEST_URL,
  })
  return clientOver(transport, attempts)
}

/** The client over any tRPC transport. */
function clientOver(transport: TRPCLink<AppRouter>, attempts: AttemptOptions): Client {
  const client = createTRPCClient<AppRouter>({ links: [attemptsLink(attempts), transport] })
  return new Proxy(client as Client, {
    get(target, noun) {
      const procedures = Reflect.get(target, noun)
      // `then`, asked for by `await`, and symbols are no nouns.
      if (procedures === undefined) return undefined
      const walks: object = lists(noun as Noun, (input, options) => procedures.list.query(input, options))
      return new Proxy(procedures, { get: (inner, verb) => Reflect.get(verb in walks ? walks : inner, verb) })
    },
  })
}

export * from './errors.ts'
export type { ListedRecord, Lists, Walk } from './lists.ts'
