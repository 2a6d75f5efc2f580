import type { IncomingMessage } from 'node:http'
import { ApiError } from './api-error.ts'

/**
 * The bytes of a request's body, also where another handler has put them, or their text, in `req.body`.
 *
 * @param limit bytes
 * @throws ApiError 413 over the limit, 400 when they did not all arrive
 */
export function readBytes(req: IncomingMessage & { body?: unknown }, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const refuse = (problem: ApiError) => {
      req.off('data', take)
      // What is left is read off and dropped, so that the next request on this connection can be heard.
      req.resume()
      reject(problem)
    }
    const take = (chunk: Buffer) => {
      size += chunk.byteLength
      if (size > limit) refuse(tooLarge(limit))
      else chunks.push(chunk)
    }
    const breakOff = () => refuse(new ApiError(400, 'Body did not arrive whole'))
    if (Number(req.headers['content-length']) > limit) return refuse(tooLarge(limit))
    const { body } = req
    if (typeof body === 'string' || body instanceof Uint8Array) return resolve(Buffer.from(body as Uint8Array))
    // As Node's `optimizeEmptyRequests` leaves a request that has no body.
    if (req.readableEnded) return resolve(Buffer.alloc(0))
    if (!req.readable) return breakOff()
    req.on('data', take)
    req.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
    req.on('error', breakOff)
  })
}

/** The ApiError 413 of a body over `limit` bytes. */
export function tooLarge(limit: number): ApiError {
  return new ApiError(413, `Body must be at most ${limit} bytes`)
}
