import type { CallInput, Contract, ProcedureTypes, TypesOf } from '../contract.ts'
import { byName } from './by-name.ts'
import { type Caller, type CallerOptions, type CallOptions, createCaller } from './calls.ts'
import { checker } from './check.ts'
import { isServiceError } from './errors.ts'
import { type HttpOptions, httpTransport } from './http.ts'
import { type Lists, lists } from './lists.ts'
import type { Transport } from './queue.ts'

/** The client methods of a procedure. */
export type ProcedureClient<P> = P extends ProcedureTypes
  ? (P['type'] extends 'query'
      ? { query: (input: CallInput<P['input']>, options?: CallOptions) => Promise<P['output']> }
      : { mutate: (input: CallInput<P['input']>, options?: CallOptions) => Promise<P['output']> }) &
      WithErrorData<P['errorData']>
  : never

/** `errorData`, for a procedure whose errors have data. */
type WithErrorData<Data> = [Data] extends [never]
  ? unknown
  : {
      /** The data of this procedure's error; undefined if the error has another status. */
      errorData: <S extends keyof Data>(error: unknown, status: S) => Data[S] | undefined
    }

/** The client methods of the procedures of a noun, and its list as async iterators. */
export type NounClient<A, N extends keyof A> = { [V in keyof A[N]]: ProcedureClient<A[N][V]> } & Lists<A[N], N>

/** A client by the types of its procedures (`query` or `mutate`), with the lists of each noun as async iterators. */
export type ClientTo<A> = { [N in keyof A]: NounClient<A, N> }

/** A client of a contract. */
export type ClientOf<C extends Contract> = ClientTo<TypesOf<C>>

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
  return byName((noun) => proceduresOf(noun, call)) as ClientOf<C>
}

function proceduresOf(noun: string, call: Caller): object {
  const iterators = lists(noun, (input, options) => call('query', `${noun}.list`, input, options))
  return byName((verb) => {
    const path = `${noun}.${verb}`
    return {
      query: (input?: unknown, options?: CallOptions) => call('query', path, input, options),
      mutate: (input?: unknown, options?: CallOptions) => call('mutation', path, input, options),
      errorData,
    }
  }, iterators)
}

function errorData(error: unknown, status: number): unknown {
  return isServiceError(error) && error.status === status ? error.data?.errorData : undefined
}
