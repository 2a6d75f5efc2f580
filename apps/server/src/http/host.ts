import { Problem } from '@resource/openapi'
import type { RequestHandler } from 'express'

const HOST = /^(?:\[[\da-f:.]+\]|[\w.~-]+)(?::\d*)?$/i

/**
 * Refuses a request whose Host is missing or malformed, as RFC 9112 (3.2) requires. Node would refuse only the first, and
 * without a body.
 */
export const checkHost: RequestHandler = (req, _res, next) => {
  const { host } = req.headers
  const isFine = host === undefined ? req.httpVersion === '1.0' : HOST.test(host) && URL.canParse(`http://${host}`)
  if (!isFine) throw new Problem(400, 'The Host header must be a host name or an address, with or without a port')
  next()
}
