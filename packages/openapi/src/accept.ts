import type { IncomingHttpHeaders } from 'node:http'
import Negotiator from 'negotiator'
import { ApiError } from './api-error.ts'
import type { Binding } from './contract.ts'
import { names } from './problem-details.ts'
import type { Incoming } from './request.ts'

// The media type of the responses, as it occurs in `Accept`.
const OFFERED = ['application/json', 'application/json;charset=utf-8']

/** @throws ApiError 406 if `Accept` excludes JSON */
export function checkAccept(req: { headers: IncomingHttpHeaders }): void {
  const { accept } = req.headers
  if (!accept || accept === '*/*' || accept === 'application/json') return
  const negotiator = new Negotiator(req)
  // JSON has no media type parameters, so an unknown one, such as a version, is ignored.
  const accepted = () => negotiator.mediaTypes().map((type) => type.toLowerCase())
  if (negotiator.mediaType(OFFERED) === undefined && !accepted().includes('application/json')) {
    throw new ApiError(406, 'Accept must allow application/json, the media type of the responses')
  }
}

/** Whether `Accept` prefers the media type of a binding's stream to JSON. A wildcard does not name it. */
export function wantsStream(req: Incoming, stream: Binding['stream']): boolean {
  if (stream === undefined || !names(req.headers.accept, stream.mediaType)) return false
  return new Negotiator(req).mediaType([...OFFERED, stream.mediaType]) === stream.mediaType
}
