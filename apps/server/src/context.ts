import type { IncomingHttpHeaders } from 'node:http'
import type { Tables } from '@resource/database'
import type { Caller } from './access/caller.ts'

/** What a procedure knows of its call beside the input. */
export interface Context {
  caller: Caller
  /** As in the log; absent where there is none. */
  requestId?: string
  /** Where the request comes from; behind trusted proxies, as they say. */
  address?: () => string
  /** Of the HTTP request, where the call is the only one it carries. */
  headers?: IncomingHttpHeaders | undefined
  /** What the call's reads see: what its caller wrote before, and of others' writes all but the latest. */
  read: Tables
}
