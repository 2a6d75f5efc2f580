import { randomUUID } from 'node:crypto'

/** A new id of a request: a UUID of version 7 (RFC 9562), which begins with the time, so that its entries are found by time. */
export function newRequestId(): string {
  const ms = Date.now().toString(16).padStart(12, '0')
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7${randomUUID().slice(15)}`
}

/** The time of a request by its id, in ms. */
export function requestedMs(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}
