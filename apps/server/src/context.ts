import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from './access/caller.ts'

/** What a procedure knows of its call beside the input. */
export interface Context {
  caller: Caller
  requestId: string
  /** Of the HTTP request, where the call is the only one it carries. */
  headers?: IncomingHttpHeaders | undefined
}
