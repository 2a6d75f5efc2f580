import type { IncomingMessage } from 'node:http'
import { CONTRACT_HASH } from '@resource/contract/hash'
import type { Logger } from 'pino'

const HASH = /^[\da-f]{16}$/
const MOST_HASHES = 100

/**
 * Logs the requests of clients that were built from another contract: for each such contract the first, the tenth, the
 * hundredth and so on, with their count.
 *
 * @returns to be told of each request
 */
export function skewLog(log: Logger): (req: IncomingMessage) => void {
  const seen = new Map<string, number>()
  return (req) => {
    const hash = req.headers['x-contract']
    if (typeof hash === 'string' && hash !== CONTRACT_HASH && HASH.test(hash)) {
      // Anyone can send any hash; what is kept of them must not grow.
      const key = seen.has(hash) || seen.size < MOST_HASHES ? hash : 'others'
      const requests = (seen.get(key) ?? 0) + 1
      seen.set(key, requests)
      if (/^10*$/.test(String(requests))) {
        log.warn({ contract: key, serving: CONTRACT_HASH, requests }, 'a client of another contract')
      }
    }
  }
}
