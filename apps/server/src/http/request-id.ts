import { randomUUID } from 'node:crypto'
import { requestGroup } from '@resource/contract'
import { FieldError } from '@resource/openapi'

/** A new id of a request: a UUID of version 7 (RFC 9562), which begins with the time, so that its entries are found by time. */
export function newRequestId(): string {
  const ms = Date.now()
  // Dozens of requests can arrive in a millisecond.
  if (ms !== latest.ms) latest = { ms, beginning: beginningOf(ms) }
  return latest.beginning + randomUUID().slice(15)
}

let latest = { ms: 0, beginning: '' }

function beginningOf(ms: number): string {
  const digits = ms.toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7`
}

/** The time of a request by its id, in ms. */
export function requestedMs(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/** The group that a client gave a request. @throws FieldError 400 */
export function readGroup(text: unknown): string | undefined {
  if (text === undefined) return undefined
  const { data, error } = requestGroup.safeParse(text)
  if (error === undefined) return data
  throw new FieldError(400, [{ path: ['X-Request-Group'], message: error.issues[0]?.message ?? 'is invalid' }])
}
