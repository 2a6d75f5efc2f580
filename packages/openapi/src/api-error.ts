import { TRPCError } from '@trpc/server'

// tRPC's error code for each status of an error. It has none for 406, 410 and 431.
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
  410: 'NOT_FOUND',
  412: 'PRECONDITION_FAILED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'UNPROCESSABLE_CONTENT',
  428: 'PRECONDITION_REQUIRED',
  429: 'TOO_MANY_REQUESTS',
  431: 'BAD_REQUEST',
  499: 'CLIENT_CLOSED_REQUEST',
  500: 'INTERNAL_SERVER_ERROR',
  501: 'NOT_IMPLEMENTED',
  502: 'BAD_GATEWAY',
  503: 'SERVICE_UNAVAILABLE',
  504: 'GATEWAY_TIMEOUT',
} as const

export type ApiErrorStatus = keyof typeof CODES

/** An invalid field: its path in the request, and what its value must be. */
export interface FieldFault {
  /** `email`, `users[3].email` or `If-Match`. */
  field: string
  message: string
}

/** The data that an error form formats. */
export interface Fault {
  status: ApiErrorStatus
  /** Must be complete, because some error forms show only the message. */
  message: string
  details: string
  fields: FieldFault[]
  /** A stable code of the cause. */
  reason: string
  /** The data that the procedure's `errorData` declares for this status. */
  data?: unknown
}

/** An error response. Any other error except a TRPCError becomes a 500 without details. */
export class ApiError extends TRPCError {
  readonly status: ApiErrorStatus
  readonly fields: FieldFault[]
  readonly headers: Record<string, string>
  /** A stable code of the cause, for programs: `taken`. Default: tRPC's code of the status, `conflict`. */
  readonly reason: string
  /** Data for callers, in addition to the message. Sent only if the procedure's `errorData` declares it. */
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
    this.reason = options.reason ?? OTHER_REASONS[status] ?? CODES[status].toLowerCase()
    this.data = options.data
  }
}

const OTHER_REASONS: Partial<Record<ApiErrorStatus, string>> = {
  406: 'not_acceptable',
  410: 'gone',
  431: 'head_too_large',
}

const STATUSES = new Map(
  Object.entries(CODES)
    .filter(([status]) => !(status in OTHER_REASONS))
    .map(([status, code]): [string, ApiErrorStatus] => [code, Number(status) as ApiErrorStatus]),
).set('PARSE_ERROR', 400)

/** Converts an error to an ApiError. A TRPCError keeps its status; any other error becomes the cause of a 500. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const status = error instanceof TRPCError ? STATUSES.get(error.code) : undefined
  if (status === undefined || status === 500) return new ApiError(500, 'Internal server error', { cause: error })
  return new ApiError(status, (error as TRPCError).message, { cause: error })
}
