import type { Fault, FieldFault } from './api-error.ts'

/** The media type of problem details (RFC 9457), which list the invalid fields as data. */
export const PROBLEM_TYPE = 'application/problem+json'

/** Problem details of type `about:blank`; `code` is the stable code of the cause. */
interface ProblemDetails {
  type: 'about:blank'
  status: number
  code: string
  detail: string
  fields: FieldFault[]
  data?: unknown
}

/** An error as problem details. */
export function problemBody({ status, message, fields, reason, data }: Fault): ProblemDetails {
  return { type: 'about:blank', status, code: reason, detail: message, fields, ...(data !== undefined && { data }) }
}

/** Whether an `Accept` header names problem details, other than with `q=0`. A wildcard does not name them. */
export function acceptsProblem(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes('+')) return false
  return accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === PROBLEM_TYPE && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}
