import { TRPCClientError } from '@trpc/client'
import type { FieldFault } from '../api-error.ts'
import type { ErrorShape } from '../contract.ts'

/** The properties of an error. */
export interface ErrorFacts {
  /** The HTTP status; 0 without a response. */
  status: number
  message: string
  /** The tRPC error shape, if the service sent one. */
  shape?: ErrorShape | undefined
  retryAfterMs?: number | undefined
  cause?: unknown
  response?: Response | undefined
}

const BRAND = Symbol.for('@resource/openapi/ServiceError')

/** Whether an error is a `ServiceError`, including one from another copy of this package. */
export function isServiceError(error: unknown): error is ServiceError {
  return typeof error === 'object' && error !== null && BRAND in error
}

/**
 * The error of a failed call. Each kind has its own class for `instanceof`, and a `code` that also works after
 * minification and with a second copy of this package. It is also a tRPC error, with `data` and `shape`.
 */
export class ServiceError extends TRPCClientError<{ errorShape: ErrorShape; transformer: false }> {
  readonly [BRAND] = true
  /** The kind of failure: `not_found`. */
  readonly code: ErrorCode
  /** The HTTP status; 0 without a response. */
  readonly status: number
  /** The invalid fields, if the service named them. */
  readonly fields: FieldFault[]
  /** The service's stable code of the cause, such as `taken`; undefined if the response has none. */
  readonly reason: string | undefined
  /** The wait that the service requests before a retry, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** The idempotency key of a write. A call with the same key has no second effect. */
  idempotencyKey: string | undefined

  constructor(code: ErrorCode, { status, message, shape, retryAfterMs, cause, response }: ErrorFacts) {
    super(message, {
      ...(shape && { result: { error: shape } }),
      ...(cause instanceof Error && { cause }),
      meta: { response },
    })
    // tRPC's constructor sets its own prototype, which would hide the class from instanceof.
    Object.setPrototypeOf(this, new.target.prototype)
    this.name = KINDS[code].name
    this.code = code
    this.status = status
    this.fields = shape?.data.fields ?? []
    this.reason = shape?.data.reason
    this.retryAfterMs = retryAfterMs
  }

  /** The errors of the records in an input list, by index: `email: must be …`. */
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

/** 400, 413, 415: the input is invalid or too large; `fields` lists the invalid fields. */
export class InvalidInputError extends ServiceError {}
/** 401: the credentials are missing, wrong, expired or revoked. */
export class UnauthorizedError extends ServiceError {}
/** 403: the caller's role does not allow it. */
export class ForbiddenError extends ServiceError {}
/** 404: the record does not exist. */
export class NotFoundError extends ServiceError {}
/** 404: the service does not have the procedure, because its contract is older or newer than the client's. */
export class UnknownProcedureError extends ServiceError {}
/** 409: a conflict with stored data, such as a taken e-mail address; `fields` lists the fields. */
export class ConflictError extends ServiceError {}
/** 410: what the call refers to no longer exists, such as the position of an old cursor; `reason` has the cause. */
export class GoneError extends ServiceError {}
/** 412: the record does not have the version in `if_version`. */
export class VersionMismatchError extends ServiceError {}
/** 429: too many requests; `retryAfterMs` is the time to wait. */
export class RateLimitedError extends ServiceError {}
/** 502, 503, 504 or no response: the service is unavailable. */
export class UnavailableError extends ServiceError {}
/** No response within the timeout. A write may have happened; its `idempotencyKey` makes a retry safe. */
export class TimeoutError extends ServiceError {}
/** The caller's signal aborted the call. */
export class AbortedError extends ServiceError {}
/** 500, or a response that is not from the service; its first characters are the `cause`. */
export class UnexpectedError extends ServiceError {}
/** An answer that does not match the contract, with `createClient({ check })`; `fields` lists the fields. */
export class ContractError extends ServiceError {}

/** The class of each kind of failure, and its name: minifiers change those of classes. */
const KINDS = {
  invalid_input: { type: InvalidInputError, name: 'InvalidInputError' },
  unauthorized: { type: UnauthorizedError, name: 'UnauthorizedError' },
  forbidden: { type: ForbiddenError, name: 'ForbiddenError' },
  not_found: { type: NotFoundError, name: 'NotFoundError' },
  unknown_procedure: { type: UnknownProcedureError, name: 'UnknownProcedureError' },
  conflict: { type: ConflictError, name: 'ConflictError' },
  gone: { type: GoneError, name: 'GoneError' },
  version_mismatch: { type: VersionMismatchError, name: 'VersionMismatchError' },
  rate_limited: { type: RateLimitedError, name: 'RateLimitedError' },
  unavailable: { type: UnavailableError, name: 'UnavailableError' },
  timeout: { type: TimeoutError, name: 'TimeoutError' },
  aborted: { type: AbortedError, name: 'AbortedError' },
  unexpected: { type: UnexpectedError, name: 'UnexpectedError' },
  broken_contract: { type: ContractError, name: 'ContractError' },
}

/** The kinds of failure. */
export type ErrorCode = keyof typeof KINDS

const CODES: Record<number, ErrorCode> = {
  400: 'invalid_input',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  410: 'gone',
  412: 'version_mismatch',
  413: 'invalid_input',
  415: 'invalid_input',
  429: 'rate_limited',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
}

/** Creates the error of a kind. */
export function serviceError(code: ErrorCode, facts: ErrorFacts): ServiceError {
  return new KINDS[code].type(code, facts)
}

/** A copy of an error for another call, which has a different idempotency key. */
export function copyOf({ code, status, message, shape, retryAfterMs, cause, meta }: ServiceError): ServiceError {
  const response = meta?.response as Response | undefined
  return serviceError(code, { status, message, shape: shape ?? undefined, retryAfterMs, cause, response })
}

// The statuses whose meaning does not depend on which server on the way sent them.
const FOREIGN = new Set([401, 429, 502, 503, 504])

/** Creates the error of a response without the error shape of the service, for example of a gateway, with its reason. */
export function foreignError(facts: Omit<ErrorFacts, 'message'>, reason?: string): ServiceError {
  const message = `The response with status ${facts.status} is not from the service; check baseUrl and any proxy`
  const code = FOREIGN.has(facts.status) ? CODES[facts.status] : undefined
  return serviceError(code ?? 'unexpected', { ...facts, message: (code && reason) ?? message })
}

/** Creates the error of a response of the service, by its status. */
export function answeredError(facts: ErrorFacts): ServiceError {
  // The message of tRPC's router, which has no separate code for this case.
  const isUnknown = facts.shape !== undefined && /^No procedure found on path/.test(facts.message)
  return serviceError(isUnknown ? 'unknown_procedure' : (CODES[facts.status] ?? 'unexpected'), facts)
}

/** Parses `Retry-After` to milliseconds; undefined if it is neither seconds nor an HTTP date. */
export function retryAfter(header: string | null | undefined): number | undefined {
  if (!header) return undefined
  if (/^\d+$/.test(header)) return Number(header) * 1000
  const ms = /GMT$/.test(header) ? Date.parse(header) - Date.now() : Number.NaN
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

export type { FieldFault }
