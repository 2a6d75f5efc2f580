import { Problem } from '@resource/openapi'
import type { RequestHandler } from 'express'

const HOST = /^(?:\[[\da-f:.]+\]|[\w.~-]+)(?::\d*)?$/i

// Callers name the same host again and again.
let knownAsFine: string | undefined

/**
 * Refuses a request whose Host is missing or malformed, as RFC 9112 (3.2) requires. Node would refuse only the first, and
 * without a body.
 */
export const checkHost: RequestHandler = ({ headers: { host }, httpVersion }, _res, next) => {
  if (host === undefined ? httpVersion !== '1.0' : host !== knownAsFine && !isHost(host)) {
    throw new Problem(400, 'The Host header must be a host name or an address, with or without a port')
  }
  knownAsFine = host
  next()
}

function isHost(host: string): boolean {
  return HOST.test(host) && URL.canParse(`http://${host}`)
}
