import type { IncomingMessage } from 'node:http'
import { ApiError } from './api-error.ts'

/** A request whose body has not been read, or is in `body`. */
export interface BodyRequest extends IncomingMessage {
  body?: unknown
  /** Sends 100 (Continue) to a client that waits for it. Without this function the host has already sent it. */
  askForBody?: () => void
}

/**
 * The bytes of a request's body. Also reads a body that another handler has put in `req.body`, as bytes or text.
 *
 * @param limit in bytes
 * @throws ApiError 413 over the limit, 400 if the body is incomplete
 */
export function readBytes(req: BodyRequest, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const refuse = (error: ApiError) => {
      req.off('data', take)
      // Drain the rest of the body, so that the connection can serve the next request.
      req.resume()
      reject(error)
    }
    const take = (chunk: Buffer) => {
      size += chunk.byteLength
      if (size > limit) refuse(tooLarge(limit))
      else chunks.push(chunk)
    }
    const incomplete = () => refuse(new ApiError(400, 'Body is incomplete'))
    if (Number(req.headers['content-length']) > limit) return refuse(tooLarge(limit))
    const { body } = req
    if (typeof body === 'string' || body instanceof Uint8Array) return resolve(Buffer.from(body as Uint8Array))
    // The state in which Node's `optimizeEmptyRequests` leaves a request without a body.
    if (req.readableEnded) return resolve(Buffer.alloc(0))
    if (!req.readable) return incomplete()
    req.askForBody?.()
    req.on('data', take)
    req.on('end', () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
    req.on('error', incomplete)
  })
}

/** The 413 for a body over `limit` bytes. */
export function tooLarge(limit: number): ApiError {
  return new ApiError(413, `Body must be at most ${limit} bytes`)
}
