import { TRPCError } from '@trpc/server'

// Each status a caller can meet, with tRPC's code for it. tRPC has none for 406: it never negotiates.
const CODES = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  402: 'PAYMENT_REQUIRED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  406: 'BAD_REQUEST',
  408: 'TIMEOUT',
  409: 'CONFLICT',
  412: 'PRECONDITION_FAILED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'UNPROCESSABLE_CONTENT',
  428: 'PRECONDITION_REQUIRED',
  429: 'TOO_MANY_REQUESTS',
  499: 'CLIENT_CLOSED_REQUEST',
  500: 'INTERNAL_SERVER_ERROR',
  501: 'NOT_IMPLEMENTED',
  502: 'BAD_GATEWAY',
  503: 'SERVICE_UNAVAILABLE',
  504: 'GATEWAY_TIMEOUT',
} as const

export type ApiErrorStatus = keyof typeof CODES

/** A field that was wrong: its path in what the caller sent, and what it must be. */
export interface FieldFault {
  /** `email`, `users[3].email`, `If-Match`; empty for the request as a whole. */
  field: string
  message: string
}

/** What an error form is made from. */
export interface Fault {
  status: ApiErrorStatus
  /** Complete in itself: some forms show nothing else. */
  message: string
  details: string
  fields: FieldFault[]
  /** What the procedure's `errorData` says that errors of this status carry. */
  data?: unknown
}

/** An answer that is not a success. Whatever else is thrown, but a TRPCError, becomes a 500 that tells nothing. */
export class ApiError extends TRPCError {
  readonly status: ApiErrorStatus
  readonly fields: FieldFault[]
  readonly headers: Record<string, string>
  /** Why the caller was refused, in a word of the service's own: for metrics and logs. */
  readonly reason: string | undefined
  /** What callers are told beside the words, where the procedure's `errorData` has it. */
  readonly data: unknown

  constructor(
    status: ApiErrorStatus,
    message: string,
    options: {
      fields?: FieldFault[]
      headers?: Record<string, string>
      reason?: string
      data?: unknown
      cause?: unknown
    } = {},
  ) {
    super({ code: CODES[status], message, cause: options.cause })
    this.name = 'ApiError'
    this.status = status
    this.fields = options.fields ?? []
    this.headers = options.headers ?? {}
    this.reason = options.reason
    this.data = options.data
  }
}

const STATUSES = new Map(
  Object.entries(CODES)
    .filter(([status]) => status !== '406')
    .map(([status, code]): [string, ApiErrorStatus] => [code, Number(status) as ApiErrorStatus]),
).set('PARSE_ERROR', 400)

/** `error` as a ApiError, a TRPCError by its code; anything else becomes a 500 whose cause is kept for the log. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const status = error instanceof TRPCError ? STATUSES.get(error.code) : undefined
  if (status === undefined || status === 500) return new ApiError(500, 'Internal server error', { cause: error })
  return new ApiError(status, (error as TRPCError).message, { cause: error })
}
