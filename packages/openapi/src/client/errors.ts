import { TRPCClientError } from '@trpc/client'
import type { FieldFault } from '../api-error.ts'
import type { ErrorShape } from '../contract.ts'

/** What an error is made of. */
export interface ErrorFacts {
  /** The HTTP status; 0 when no answer came. */
  status: number
  message: string
  /** The error as tRPC has it, where the service said one. */
  shape?: ErrorShape | undefined
  retryAfterMs?: number | undefined
  cause?: unknown
  response?: Response | undefined
}

const BRAND = Symbol.for('@resource/openapi/ServiceError')

/** Whether an error is a `ServiceError`, also one of another copy of this package. */
export function isServiceError(error: unknown): error is ServiceError {
  return typeof error === 'object' && error !== null && BRAND in error
}

/**
 * A call that failed. Each kind has a class of its own for `instanceof`, and a `code` that also survives minification and
 * a second copy of this package. It is tRPC's error too, with `data` and `shape`.
 */
export class ServiceError extends TRPCClientError<{ errorShape: ErrorShape; transformer: false }> {
  readonly [BRAND] = true
  /** What kind of failure it is: `not_found`. */
  readonly code: ErrorCode
  /** The HTTP status; 0 when no answer came. */
  readonly status: number
  /** Which fields were wrong, where the service named them. */
  readonly fields: FieldFault[]
  /** How long the service asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** Of a write: its idempotency key. Called again with it, the write has no second effect. */
  idempotencyKey: string | undefined

  constructor(code: ErrorCode, { status, message, shape, retryAfterMs, cause, response }: ErrorFacts) {
    super(message, {
      ...(shape && { result: { error: shape } }),
      ...(cause instanceof Error && { cause }),
      meta: { response },
    })
    // tRPC's constructor sets its own prototype, which would hide the class from instanceof.
    Object.setPrototypeOf(this, new.target.prototype)
    this.name = NAMES[code]
    this.code = code
    this.status = status
    this.fields = shape?.data.fields ?? []
    this.retryAfterMs = retryAfterMs
  }

  /** What was wrong with the records of a list in the input, by their index: `email: must be …`. */
  faultsIn(list: string): Map<number, string> {
    const faults = new Map<number, string>()
    for (const { field, message } of this.fields) {
      if (!field.startsWith(`${list}[`)) continue
      const end = field.indexOf(']', list.length)
      const index = Number(field.slice(list.length + 1, end))
      const name = field.slice(end + 2)
      const fault = name === '' ? message : `${name}: ${message}`
      const before = faults.get(index)
      faults.set(index, before === undefined ? fault : `${before}; ${fault}`)
    }
    return faults
  }
}

/** 400, 413, 415: the input breaks the contract, or is too large; `fields` says where. */
export class InvalidInputError extends ServiceError {}
/** 401: the credentials are missing, wrong, expired or revoked. */
export class UnauthorizedError extends ServiceError {}
/** 403: the caller's role does not allow it. */
export class ForbiddenError extends ServiceError {}
/** 404: there is no such record. */
export class NotFoundError extends ServiceError {}
/** 404: the service does not know the procedure, because its contract is older or newer than the client's. */
export class UnknownProcedureError extends ServiceError {}
/** 409: in conflict with what is stored, such as a taken e-mail address; `fields` says where. */
export class ConflictError extends ServiceError {}
/** 412: the record has another version than `if_version` named. */
export class VersionMismatchError extends ServiceError {}
/** 429: too many requests; `retryAfterMs` says how long to wait. */
export class RateLimitedError extends ServiceError {}
/** 502, 503, 504, or no answer at all: the service cannot be reached now. */
export class UnavailableError extends ServiceError {}
/** No answer within the call's time. A write may have happened; its `idempotencyKey` makes a repeat safe. */
export class TimeoutError extends ServiceError {}
/** The caller's own signal ended the call. */
export class AbortedError extends ServiceError {}
/** 500, or an answer that is not the service's, whose first bytes are the `cause`. */
export class UnexpectedError extends ServiceError {}
/** An answer that breaks the contract, found by `createClient({ check })`; `fields` says where. */
export class ContractError extends ServiceError {}

const CLASSES = {
  invalid_input: InvalidInputError,
  unauthorized: UnauthorizedError,
  forbidden: ForbiddenError,
  not_found: NotFoundError,
  unknown_procedure: UnknownProcedureError,
  conflict: ConflictError,
  version_mismatch: VersionMismatchError,
  rate_limited: RateLimitedError,
  unavailable: UnavailableError,
  timeout: TimeoutError,
  aborted: AbortedError,
  unexpected: UnexpectedError,
  broken_contract: ContractError,
}

/** What kinds of failure there are. */
export type ErrorCode = keyof typeof CLASSES

// Not the names of the classes, which a minifier changes.
const NAMES: Record<ErrorCode, string> = {
  invalid_input: 'InvalidInputError',
  unauthorized: 'UnauthorizedError',
  forbidden: 'ForbiddenError',
  not_found: 'NotFoundError',
  unknown_procedure: 'UnknownProcedureError',
  conflict: 'ConflictError',
  version_mismatch: 'VersionMismatchError',
  rate_limited: 'RateLimitedError',
  unavailable: 'UnavailableError',
  timeout: 'TimeoutError',
  aborted: 'AbortedError',
  unexpected: 'UnexpectedError',
  broken_contract: 'ContractError',
}

const CODES: Record<number, ErrorCode> = {
  400: 'invalid_input',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  412: 'version_mismatch',
  413: 'invalid_input',
  415: 'invalid_input',
  429: 'rate_limited',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
}

/** The error of a kind. */
export function serviceError(code: ErrorCode, facts: ErrorFacts): ServiceError {
  return new CLASSES[code](code, facts)
}

/** The same error for another call, which has an idempotency key of its own. */
export function copyOf({ code, status, message, shape, retryAfterMs, cause, meta }: ServiceError): ServiceError {
  const response = meta?.response as Response | undefined
  return serviceError(code, { status, message, shape: shape ?? undefined, retryAfterMs, cause, response })
}

/** The error of an answer, by its status. */
export function answeredError(facts: ErrorFacts): ServiceError {
  // The words of tRPC's own router, which has no code for it.
  const isUnknown = facts.shape !== undefined && /^No procedure found on path/.test(facts.message)
  return serviceError(isUnknown ? 'unknown_procedure' : (CODES[facts.status] ?? 'unexpected'), facts)
}

/** How long a `Retry-After` asks to wait, in milliseconds; undefined where it is neither seconds nor an HTTP date. */
export function retryAfter(header: string | null | undefined): number | undefined {
  if (!header) return undefined
  if (/^\d+$/.test(header)) return Number(header) * 1000
  const ms = /GMT$/.test(header) ? Date.parse(header) - Date.now() : Number.NaN
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

export type { FieldFault }
