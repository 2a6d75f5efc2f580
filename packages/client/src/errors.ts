import type { AppRouter } from '@resource/contract'
import { TRPCClientError } from '@trpc/client'

/** A field the service refused: its path in the input, and what it must be. */
export interface FieldFault {
  /** `email`, `users[3].email`; empty for the input as a whole. */
  field: string
  message: string
}

/**
 * A call that failed. Each kind has a class of its own, so that `catch` can tell them by `instanceof`; whatever the
 * kind, it is tRPC's error too, with `data` and `shape`.
 */
export class ServiceError extends TRPCClientError<AppRouter> {
  /** The HTTP status; 0 when no answer came. */
  readonly status: number
  /** Which fields were wrong, where the service named them. */
  readonly fields: FieldFault[]
  /** How long the service asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(error: TRPCClientError<AppRouter>, message = error.message) {
    const response = (error.meta as { response?: Response } | undefined)?.response
    super(message, { ...(error.shape && { result: { error: error.shape } }), cause: error, meta: error.meta ?? {} })
    // tRPC's constructor sets its own prototype, which would hide the class from instanceof.
    Object.setPrototypeOf(this, new.target.prototype)
    this.name = this.constructor.name
    this.status = error.data?.httpStatus ?? response?.status ?? 0
    this.fields = error.data?.fields ?? []
    this.retryAfterMs = retryAfter(response?.headers.get('Retry-After'))
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

/** 400: the input breaks the contract; `fields` says where. */
export class InvalidInputError extends ServiceError {}
/** 401: the credentials are missing, wrong, expired or revoked. */
export class UnauthorizedError extends ServiceError {}
/** 403: the caller's role does not allow it. */
export class ForbiddenError extends ServiceError {}
/** 404 */
export class NotFoundError extends ServiceError {}
/** 409: in conflict with what is stored, such as a taken e-mail address; `fields` says where. */
export class ConflictError extends ServiceError {}
/** 412: the record has another version than `if_version` named. */
export class VersionMismatchError extends ServiceError {}
/** 429: too many requests; `retryAfterMs` says how long to wait. */
export class RateLimitedError extends ServiceError {}
/** 503, or no answer at all: the service cannot be had now. */
export class UnavailableError extends ServiceError {}
/** No answer within the call's time. A write may have happened; with retries on, a repeat has no second effect. */
export class TimeoutError extends ServiceError {}
/** The caller's own signal ended the call. */
export class AbortedError extends ServiceError {}
/** 500, or an answer that is none of the service's. */
export class UnexpectedError extends ServiceError {}

/** An answer that breaks the contract, found by `createClient({ check })`; `fields` says where. */
export class ContractError extends ServiceError {
  constructor(error: TRPCClientError<AppRouter>, fields: FieldFault[]) {
    super(error, `${error.message}: ${fields.map(({ field, message }) => `${field}: ${message}`).join('; ')}`)
    this.fields.push(...fields)
  }
}

const CLASSES: Record<number, new (error: TRPCClientError<AppRouter>) => ServiceError> = {
  400: InvalidInputError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  412: VersionMismatchError,
  429: RateLimitedError,
  502: UnavailableError,
  503: UnavailableError,
  504: UnavailableError,
}

/** tRPC's error as the class of its kind. */
export function toServiceError(error: TRPCClientError<AppRouter>, signal?: AbortSignal | null): ServiceError {
  if (error instanceof ServiceError) return error
  if (signal?.aborted) {
    const isTimeout = (signal.reason as Error | undefined)?.name === 'TimeoutError'
    return isTimeout ? new TimeoutError(error, 'The service did not answer in time') : new AbortedError(error)
  }
  const response = (error.meta as { response?: Response } | undefined)?.response
  const status = error.data?.httpStatus ?? response?.status
  if (status === undefined) return new UnavailableError(error, 'The service cannot be reached')
  return new (CLASSES[status] ?? UnexpectedError)(error)
}

function retryAfter(header: string | null | undefined): number | undefined {
  if (!header) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
