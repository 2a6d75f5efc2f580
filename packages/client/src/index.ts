import type { Contract } from '@resource/contract'
import { CONTRACT_HASH } from '@resource/contract/hash'
import {
  type ClientOf,
  createClient as createClientOf,
  type IterateInput as IterateInputOf,
  type ClientOptions as OptionsOf,
  type ListedRecord as RecordOf,
} from '@resource/openapi/client'

/** The client: every procedure of the service (`query` or `mutate`), and the lists of each noun as async iterators. */
export type Client = ClientOf<Contract>

export type ClientOptions = OptionsOf<Contract>

/** The nouns of the resources. */
export type Noun = keyof Contract

/** A record in the list of a noun. */
export type ListedRecord<N extends Noun> = RecordOf<Contract[N]['procedures'], N>

/** The input of `iterate` and `pages`: filters, `sort`, `limit` as the page size, and `after` as the start cursor. */
export type IterateInput<N extends Noun> = IterateInputOf<Contract[N]['procedures']>

/**
 * Creates a typed client of the service. Calls of the same tick with the same credentials are sent in one request.
 *
 * A failed call throws a subclass of `ServiceError`. An error of the program itself, such as one thrown by `apiKey`, is
 * thrown unchanged.
 */
export function createClient(options: ClientOptions): Client {
  // The service compares the hash to detect clients built against a different contract.
  return createClientOf<Contract>({ ...options, headers: { 'X-Contract': CONTRACT_HASH, ...options.headers } })
}

export {
  AbortedError,
  type CallOptions,
  ConflictError,
  ContractError,
  type ErrorCode,
  type FieldFault,
  ForbiddenError,
  InvalidInputError,
  isServiceError,
  NotFoundError,
  RateLimitedError,
  ServiceError,
  TimeoutError,
  UnauthorizedError,
  UnavailableError,
  UnexpectedError,
  UnknownProcedureError,
  VersionMismatchError,
} from '@resource/openapi/client'
