import type { z } from 'zod'
import type { Contract } from '../contract.ts'
import { type Caller, type CallerOptions, type CallOptions, createCaller } from './calls.ts'
import { checker } from './check.ts'
import { isServiceError } from './errors.ts'
import { type HttpOptions, httpTransport } from './http.ts'
import { type Lists, lists } from './lists.ts'
import type { Transport } from './queue.ts'

// biome-ignore lint/suspicious/noConfusingVoidType: `void` makes an argument optional for TypeScript
type Omittable<T> = T | void

/** The input of a call; the argument is optional if no field is required. */
type CallInput<Input extends z.ZodType> = object extends z.input<Input> ? Omittable<z.input<Input>> : z.input<Input>

/**
 * The client methods of a procedure. By its properties: to infer its type arguments takes the compiler four times as long.
 */
type ProcedureClient<P extends { type: unknown; input: z.ZodType; output: z.ZodType }> = (P['type'] extends 'query'
  ? { query: (input: CallInput<P['input']>, options?: CallOptions) => Promise<z.output<P['output']>> }
  : { mutate: (input: CallInput<P['input']>, options?: CallOptions) => Promise<z.output<P['output']>> }) &
  WithErrorData<P>

/** `errorData`, for a procedure whose errors have data. */
type WithErrorData<P> = P extends { errorData?: infer Data }
  ? number extends keyof NonNullable<Data>
    ? unknown
    : {
        /** The data of this procedure's error; undefined if the error has another status. */
        errorData: <S extends keyof NonNullable<Data>>(
          error: unknown,
          status: S,
        ) => z.output<NonNullable<Data>[S]> | undefined
      }
  : unknown

/** A client: every procedure of a contract (`query` or `mutate`), and the lists of each noun as async iterators. */
export type ClientOf<C extends Contract> = {
  [N in keyof C]: { [V in keyof C[N]['procedures']]: ProcedureClient<C[N]['procedures'][V]> } & Lists<
    C[N]['procedures'],
    N
  >
}

export interface ClientCallOptions<C extends Contract = Contract> extends Omit<CallerOptions, 'check'> {
  /** The contract to check each answer against. A mismatch is a `ContractError`. Adds zod to the bundle. */
  check?: C | undefined
}

export interface ClientOptions<C extends Contract = Contract> extends HttpOptions, ClientCallOptions<C> {}

/** Creates a typed client of any contract. */
export function createClient<C extends Contract>(options: ClientOptions<C>): ClientOf<C> {
  return clientOver<C>(httpTransport(options), options)
}

/** Creates a client over any transport, for example for a service in the same process. */
export function clientOver<C extends Contract>(
  transport: Transport,
  { check, ...options }: ClientCallOptions<C> = {},
): ClientOf<C> {
  const call = createCaller(transport, { ...options, check: check && checker(check) })
  const nouns = new Map<string, object>()
  return new Proxy({} as ClientOf<C>, {
    get(_, noun) {
      if (noun === UNTYPED) return untyped(call)
      // `await` looks for `then`.
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
  const iterators = lists(noun, (input, options) => call('query', `${noun}.list`, input, options))
  const known = new Map<string, object>(Object.entries(iterators))
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

// tRPC's tools, such as its TanStack integration, look up the untyped client under this name.
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
