import type { Express, Request, Response } from 'express'
import { IncomingMessage, ServerResponse } from './node-http.ts'

/**
 * The request and response classes for the server of `app`, to be given to `createServer`. Express puts its own
 * prototypes in the place of each message's, after which V8 is slow to find its properties; messages made by these
 * classes have those prototypes from the start (expressjs/express#5998).
 */
export function messagesOf(app: Express) {
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse<AppRequest> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request)
  Object.setPrototypeOf(AppResponse.prototype, app.response)
  app.request = AppRequest.prototype as Request
  app.response = AppResponse.prototype as Response
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse }
}
