import type { Contract } from '@resource/contract'
import { CONTRACT_HASH } from '@resource/contract/hash'
import {
  createClient as createClientOf,
  type IterateInput as IterateInputOf,
  type NounClient as NounClientOf,
  type ClientOptions as OptionsOf,
  type ListedRecord as RecordOf,
  type RouterTo,
} from '@resource/openapi/client'
import { type Actions, withActions } from './actions.ts'
import type { Api } from './api.ts'

/**
 * The client: every procedure of the service (`query` or `mutate`), the lists of each noun as async iterators, previews of writes,
 * their undo, and the changes of records as they happen.
 */
export interface Client extends Nouns, Actions {}

type Nouns = { [N in Exclude<Noun, 'changes'>]: NounClient<N> }

export interface ClientOptions extends OptionsOf {}

/** The nouns of the resources. */
export type Noun = keyof Api

/** The part of the client for one noun: `NounClient<'books'>`. */
export type NounClient<N extends Noun> = NounClientOf<Api, N>

/** The input of a procedure: `Input<'books', 'create'>`. */
export type Input<N extends Noun, V extends keyof Api[N]> = Api[N][V] extends { input: infer I } ? I : never

/** The answer of a procedure: `Output<'books', 'get'>`. */
export type Output<N extends Noun, V extends keyof Api[N]> = Api[N][V] extends { output: infer O } ? O : never

/** A record in the list of a noun. */
export type ListedRecord<N extends Noun> = RecordOf<Api[N], N>

/** The input of `iterate` and `pages`: filters, `sort`, `limit` as the page size, and `after` as the start cursor. */
export type IterateInput<N extends Noun> = IterateInputOf<Api[N]>

/** The router type, for tRPC's own clients. */
export type AppRouter = RouterTo<Api>

/**
 * Creates a typed client of the service. Calls of the same tick with the same credentials are sent in one request.
 *
 * A failed call throws a subclass of `ServiceError`. An error of the program itself, such as one thrown by `apiKey`, is
 * thrown unchanged.
 */
export function createClient(options: ClientOptions): Client {
  // The service compares the hash to detect clients built against a different contract.
  const headers = { 'X-Contract': CONTRACT_HASH, ...options.headers }
  const http = { ...options, headers }
  return withActions(createClientOf<Contract>(http as OptionsOf<Contract>), http)
}

export {
  AbortedError,
  type CallOptions,
  ConflictError,
  ContractError,
  type ErrorCode,
  type FieldFault,
  ForbiddenError,
  GoneError,
  InvalidInputError,
  isServiceError,
  NotFoundError,
  type ProcedureClient,
  RateLimitedError,
  randomKey as createIdempotencyKey,
  requestIdOf,
  ServiceError,
  TimeoutError,
  UnauthorizedError,
  UnavailableError,
  UnexpectedError,
  UnknownProcedureError,
  uuidOf,
  VersionMismatchError,
} from '@resource/openapi/client'
export {
  type Actions,
  type Applied,
  type ApplyOptions,
  type Grouped,
  type GroupOptions,
  type Undo,
  type UndoneGroup,
  type WriteInput,
  type WriteName,
  withActions,
} from './actions.ts'
export type * from './api.ts'
export type { Change, Changes, ChangesOptions, Deleted, Followed, Saved } from './changes.ts'
