import type { RequestListener, ServerResponse } from 'node:http'
import { envelope } from '@resource/contract'

export interface FaultOptions {
  /** How long each request waits before the service sees it, in milliseconds. */
  latency?: number
  /** Which part of the requests fails, from 0 to 1. */
  failRate?: number
  /** Chooses which: the same number fails the same requests, in their order of arrival. 1 when absent. */
  failSeed?: number
}

/**
 * Puts trouble before a service. Of the requests that fail, a third is answered 503, a third loses its connection
 * before the service sees it, and a third loses the answer, when the service has done its work.
 */
export function withFaults({ latency = 0, failRate = 0, failSeed = 1 }: FaultOptions) {
  const random = generator(failSeed)
  return (handle: RequestListener): RequestListener =>
    (req, res) => {
      // Drawn at arrival, so that waiting does not change whom it meets.
      const fails = random() < failRate
      const kind = Math.floor(random() * 3)
      const go = () => {
        if (!fails) return handle(req, res)
        if (kind === 0) return refuse(res)
        if (kind === 1) return req.socket.destroy()
        loseAnswer(res)
        return handle(req, res)
      }
      if (latency === 0) go()
      else setTimeout(go, latency)
    }
}

function refuse(res: ServerResponse): void {
  const fault = { status: 503, message: 'The test server fails this request', details: '', fields: [] } as const
  const body = JSON.stringify(envelope.error.body({ ...fault, fields: [] }))
  res.writeHead(503, { 'Content-Type': 'application/json; charset=utf-8' }).end(body)
}

function loseAnswer(res: ServerResponse): void {
  res.write = () => true
  res.end = () => res.destroy()
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
