import type { Contract } from '@resource/contract'
import { CONTRACT_HASH } from '@resource/contract/hash'
import {
  type ClientOf,
  createClient as createClientOf,
  type ClientOptions as OptionsOf,
  type ListedRecord as RecordOf,
  type Walk as WalkOf,
} from '@resource/openapi/client'

/** Every procedure of the service (`query` or `mutate`), and for each noun its lists as async iterators. */
export type Client = ClientOf<Contract>

export type ClientOptions = OptionsOf<Contract>

/** The nouns that can be listed. */
export type Noun = keyof Contract

/** A record of the noun as its list shows it. */
export type ListedRecord<N extends Noun> = RecordOf<Contract[N]['procedures'], N>

/** What a walk along a list takes: filters, sort, the size of its pages, and the cursor to start from. */
export type Walk<N extends Noun> = WalkOf<Contract[N]['procedures']>

/**
 * A client of the service, typed by its contract. Calls made in the same tick travel in one request where their
 * credentials are the same.
 *
 * A call throws a `ServiceError` of the class of its kind; a fault of the program itself, such as what `apiKey` throws,
 * is thrown as it is.
 */
export function createClient(options: ClientOptions): Client {
  // By the hash the service notices clients of another contract.
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
