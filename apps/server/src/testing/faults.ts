import type { RequestListener, ServerResponse } from 'node:http'
import { envelope } from '@resource/contract'

export interface FaultOptions {
  /** The delay of each request before it reaches the service, in milliseconds. */
  latency?: number
  /** The fraction of requests that fail, from 0 to 1. */
  failRate?: number
  /** The random seed: the same seed fails the same requests, by order of arrival. 1 by default. */
  failSeed?: number
}

/**
 * Injects faults in front of a service. Of the failing requests, a third get a 503, a third lose their connection before the
 * service gets them, and a third lose the response after the service has processed them.
 */
export function withFaults({ latency = 0, failRate = 0, failSeed = 1 }: FaultOptions) {
  const random = generator(failSeed)
  return (handle: RequestListener): RequestListener =>
    (req, res) => {
      // Drawn on arrival, so that latency does not change which requests fail.
      const fails = random() < failRate
      const kind = Math.floor(random() * 3)
      const go = () => {
        if (!fails) return handle(req, res)
        if (kind === 0) return refuse(res)
        if (kind === 1) return req.socket.destroy()
        dropResponse(res)
        return handle(req, res)
      }
      if (latency === 0) go()
      else setTimeout(go, latency)
    }
}

function refuse(res: ServerResponse): void {
  const fault = {
    status: 503,
    reason: 'service_unavailable',
    message: 'The test server fails this request',
    details: '',
    fields: [],
  } as const
  const body = JSON.stringify(envelope.error.body({ ...fault, fields: [] }))
  res.writeHead(503, { 'Content-Type': 'application/json; charset=utf-8' }).end(body)
}

function dropResponse(res: ServerResponse): void {
  res.write = () => true
  res.end = () => res.destroy()
}

/** A random number generator with a seed (mulberry32); numbers from 0 to 1. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
