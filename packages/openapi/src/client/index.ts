export type { CallInput, Contract, ProcedureTypes, RouterTo, TypesOf } from '../contract.ts'
export { type CallOptions, requestIdOf } from './calls.ts'
export {
  type ClientCallOptions,
  type ClientOf,
  type ClientOptions,
  type ClientTo,
  clientOver,
  createClient,
  type NounClient,
  type ProcedureClient,
} from './client.ts'
export {
  AbortedError,
  answeredError,
  ConflictError,
  ContractError,
  type ErrorCode,
  type ErrorFacts,
  type FieldFault,
  ForbiddenError,
  GoneError,
  InvalidInputError,
  isServiceError,
  NotFoundError,
  RateLimitedError,
  ServiceError,
  serviceError,
  TimeoutError,
  UnauthorizedError,
  UnavailableError,
  UnexpectedError,
  UnknownProcedureError,
  VersionMismatchError,
} from './errors.ts'
export { type EventStream, eventStream } from './events.ts'
export type { RequestFacts } from './http.ts'
export type { IterateInput, ListedRecord, Lists, Page } from './lists.ts'
export type { Outcome, Transport, TransportCall } from './queue.ts'
export { randomKey, uuidOf } from './random-key.ts'
