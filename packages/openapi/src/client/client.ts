import type { z } from 'zod'
import type { AnyErrorData, Contract, Procedure } from '../contract.ts'
import { type Caller, type CallerOptions, type CallOptions, createCaller } from './calls.ts'
import { checker } from './check.ts'
import { isServiceError } from './errors.ts'
import { type HttpOptions, httpTransport } from './http.ts'
import { type Lists, lists } from './lists.ts'
import type { Transport } from './queue.ts'

// biome-ignore lint/suspicious/noConfusingVoidType: by `void` TypeScript knows that an argument may be left out
type Omittable<T> = T | void

/** What a caller sends; nothing at all where no field is required. */
type Sent<Input extends z.ZodType> = object extends z.input<Input> ? Omittable<z.input<Input>> : z.input<Input>

/** A procedure as the client calls it. */
type ProcedureClient<P> =
  P extends Procedure<infer Type, infer Input, infer Output, AnyErrorData>
    ? (Type extends 'query'
        ? { query: (input: Sent<Input>, options?: CallOptions) => Promise<z.output<Output>> }
        : { mutate: (input: Sent<Input>, options?: CallOptions) => Promise<z.output<Output>> }) &
        Telling<P>
    : never

/** Where a procedure's errors carry data: what gives them. */
type Telling<P> = P extends { errorData?: infer Data }
  ? number extends keyof NonNullable<Data>
    ? unknown
    : {
        /** What an error of this procedure carries; undefined where it is another error than one of `status`. */
        errorData: <S extends keyof NonNullable<Data>>(
          error: unknown,
          status: S,
        ) => z.output<NonNullable<Data>[S]> | undefined
      }
  : unknown

/** Every procedure of a contract (`query` or `mutate`), and for each noun its lists as async iterators. */
export type ClientOf<C extends Contract> = {
  [N in keyof C]: { [V in keyof C[N]['procedures']]: ProcedureClient<C[N]['procedures'][V]> } & Lists<
    C[N]['procedures'],
    N
  >
}

export interface ClientCallOptions<C extends Contract = Contract> extends Omit<CallerOptions, 'check'> {
  /** The contract, to check each answer against it; an answer that breaks it is a `ContractError`. Brings zod into the bundle. */
  check?: C | undefined
}

export interface ClientOptions<C extends Contract = Contract> extends HttpOptions, ClientCallOptions<C> {}

/** A client of any contract, typed by it. */
export function createClient<C extends Contract>(options: ClientOptions<C>): ClientOf<C> {
  return clientOver<C>(httpTransport(options), options)
}

/** The client over any transport: for a service in the same process, say. */
export function clientOver<C extends Contract>(
  transport: Transport,
  { check, ...options }: ClientCallOptions<C> = {},
): ClientOf<C> {
  const call = createCaller(transport, { ...options, check: check && checker(check) })
  const nouns = new Map<string, object>()
  return new Proxy({} as ClientOf<C>, {
    get(_, noun) {
      if (noun === UNTYPED) return untyped(call)
      // `then` is asked for by `await`.
      if (typeof noun === 'symbol' || noun === 'then') return undefined
      let procedures = nouns.get(noun)
      if (procedures === undefined) {
        procedures = proceduresOf(noun, call)
        nouns.set(noun, procedures)
      }
      return procedures
    },
  })
}

function proceduresOf(noun: string, call: Caller): object {
  const walks = lists(noun, (input, options) => call('query', `${noun}.list`, input, options))
  const known = new Map<string, object>(Object.entries(walks))
  return new Proxy(
    {},
    {
      get(_, verb) {
        if (typeof verb === 'symbol' || verb === 'then') return undefined
        let procedure = known.get(verb)
        if (procedure === undefined) {
          const path = `${noun}.${verb}`
          procedure = {
            query: (input?: unknown, options?: CallOptions) => call('query', path, input, options),
            mutate: (input?: unknown, options?: CallOptions) => call('mutation', path, input, options),
            errorData,
          }
          known.set(verb, procedure)
        }
        return procedure
      },
    },
  )
}

function errorData(error: unknown, status: number): unknown {
  return isServiceError(error) && error.status === status ? error.data?.errorData : undefined
}

// Under this name tRPC's own tools, such as its TanStack integration, look for what makes a client's calls.
const UNTYPED = Symbol.for('trpc_untypedClient')

interface TrpcCallOptions {
  signal?: AbortSignal | null
  context?: CallOptions
}

function untyped(call: Caller) {
  const by =
    (type: 'query' | 'mutation') =>
    (path: string, input?: unknown, { signal, context }: TrpcCallOptions = {}) =>
      call(type, path, input, { ...context, signal })
  return { query: by('query'), mutation: by('mutation') }
}
