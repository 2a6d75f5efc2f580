import { Problem } from '@resource/openapi'
import type { RequestHandler } from 'express'

const HOST = /^(?:\[[\da-f:.]+\]|[\w.~-]+)(?::\d*)?$/i
const LOOPBACK = /^(?:localhost|[\w-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d*)?$/i

/** Whether an address to listen on is of this machine alone. */
export function isLoopback(address: string): boolean {
  return LOOPBACK.test(address.includes(':') ? `[${address}]` : address)
}

// Callers name the same host again and again.
let knownAsFine: string | undefined

/**
 * Refuses a request whose Host is missing or malformed, as RFC 9112 (3.2) requires. Node would refuse only the first, and
 * without a body.
 *
 * @param isPrivate whether only this machine's own names will do: else a page whose name was made to resolve to this
 * machine (DNS rebinding) could read and write what is meant for its owner
 */
export function checkHost(isPrivate: () => boolean | Promise<boolean>): RequestHandler {
  return ({ headers: { host }, httpVersion }, _res, next) => {
    if (host === undefined ? httpVersion !== '1.0' : host !== knownAsFine && !isHost(host)) {
      throw new Problem(400, 'The Host header must be a host name or an address, with or without a port')
    }
    knownAsFine = host
    if (host === undefined || LOOPBACK.test(host)) return next()
    const settle = (isPrivate: boolean) => {
      if (isPrivate) throw new Problem(403, NOT_OURS)
      next()
    }
    const answer = isPrivate()
    return answer instanceof Promise ? answer.then(settle) : settle(answer)
  }
}

const NOT_OURS = 'Without API keys the service answers to the names of this machine alone, such as localhost'

function isHost(host: string): boolean {
  return HOST.test(host) && URL.canParse(`http://${host}`)
}
