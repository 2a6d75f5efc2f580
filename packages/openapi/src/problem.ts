import { TRPCError } from '@trpc/server'

// Each status a caller can meet, with tRPC's name for it. tRPC has none for 406: it never negotiates.
const CODES = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  406: 'BAD_REQUEST',
  409: 'CONFLICT',
  412: 'PRECONDITION_FAILED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'TOO_MANY_REQUESTS',
  500: 'INTERNAL_SERVER_ERROR',
  503: 'SERVICE_UNAVAILABLE',
} as const

export type ProblemStatus = keyof typeof CODES

/** A field that was wrong: its path in what the caller sent, and what it must be. */
export interface FieldFault {
  /** `email`, `users[3].email`, `If-Match`; empty for the request as a whole. */
  field: string
  message: string
}

/** What an error form is made from. */
export interface Fault {
  status: ProblemStatus
  /** Complete in itself: some forms show nothing else. */
  message: string
  details: string
  fields: FieldFault[]
}

/** An answer that is not a success. Whatever else is thrown becomes a 500 that tells nothing. */
export class Problem extends TRPCError {
  readonly status: ProblemStatus
  readonly fields: FieldFault[]
  readonly headers: Record<string, string>
  /** Why the caller was refused, in a word of the service's own: for metrics and logs. */
  readonly reason: string | undefined

  constructor(
    status: ProblemStatus,
    message: string,
    options: { fields?: FieldFault[]; headers?: Record<string, string>; reason?: string; cause?: unknown } = {},
  ) {
    super({ code: CODES[status], message, cause: options.cause })
    this.name = 'Problem'
    this.status = status
    this.fields = options.fields ?? []
    this.headers = options.headers ?? {}
    this.reason = options.reason
  }
}

/** `error` as a Problem; anything else becomes a 500 whose cause is kept for the log. */
export function toProblem(error: unknown): Problem {
  return error instanceof Problem ? error : new Problem(500, 'Internal server error', { cause: error })
}
