import type { ErrorForm } from './contract.ts'

/** The media type of problem details (RFC 9457), which list the invalid fields as data. */
export const PROBLEM_TYPE = 'application/problem+json'

/** The error form of problem details of type `about:blank`; `code` is the stable code of the cause. */
export const PROBLEM: Pick<ErrorForm, 'body'> = {
  body: ({ status, message, fields, reason, data }) => {
    const facts = { type: 'about:blank', status, code: reason, detail: message, fields }
    return data === undefined ? facts : { ...facts, data }
  },
}

/** Whether an `Accept` header names problem details. */
export function acceptsProblem(accept: string | undefined): boolean {
  return accept?.includes('+') === true && names(accept, PROBLEM_TYPE)
}

/** Whether an `Accept` header names a media type, other than with `q=0`. A wildcard does not name it. */
export function names(accept: string | undefined, mediaType: string): boolean {
  if (accept === undefined) return false
  return accept.split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return type === mediaType && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}
