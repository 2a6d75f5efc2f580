import type { IncomingHttpHeaders } from 'node:http'

/** What a procedure knows of its call beside the input. */
export interface Context {
  requestId: string
  /** Of the HTTP request, where the call is the only one it carries. */
  headers?: IncomingHttpHeaders
}
