import type * as http from 'node:http'
import type { Express, Request, Response } from 'express'
import { IncomingMessage, ServerResponse } from './node-http.ts'

/** What is to be learned of messages, which Node tells nobody. */
export interface Watcher {
  /** A request has come whole. */
  arrived: (req: http.IncomingMessage) => void
  /** The kernel has not taken what was written of an answer. @returns whether `drained` is to be called */
  stalled: (res: http.ServerResponse) => boolean
  /** It has taken it since, and there is more to come. */
  drained: (res: http.ServerResponse) => void
}

type Callback = (error?: Error | null) => void

/**
 * The request and response classes for the server of `app`, to be given to `createServer`. Express puts its own
 * prototypes in the place of each message's, after which V8 is slow to find its properties; messages made by these
 * classes have those prototypes from the start (expressjs/express#5998).
 */
export function messagesOf(app: Express, watcher: Watcher) {
  class AppRequest extends IncomingMessage {
    override push(chunk: unknown, encoding?: BufferEncoding): boolean {
      if (chunk === null) watcher.arrived(this)
      return super.push(chunk, encoding)
    }
  }
  class AppResponse extends ServerResponse<AppRequest> {
    // Node's own signatures, in the one form that takes them all.
    override write(chunk: unknown, encoding?: BufferEncoding | Callback, callback?: Callback): boolean {
      const hasRoom = super.write(chunk, encoding as BufferEncoding, callback)
      if (!hasRoom && watcher.stalled(this)) this.once('drain', drained)
      return hasRoom
    }

    override end(chunk?: unknown, encoding?: BufferEncoding | Callback, callback?: Callback): this {
      super.end(chunk, encoding as BufferEncoding, callback as () => void)
      if (this.socket !== null && this.socket.writableLength > 0) watcher.stalled(this)
      return this
    }
  }
  function drained(this: AppResponse) {
    watcher.drained(this)
  }
  Object.setPrototypeOf(AppRequest.prototype, app.request)
  Object.setPrototypeOf(AppResponse.prototype, app.response)
  app.request = AppRequest.prototype as Request
  app.response = AppResponse.prototype as Response
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse }
}
