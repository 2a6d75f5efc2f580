import type { IncomingHttpHeaders } from 'node:http'
import type { Implementation } from '@resource/contract'
import type { Tables } from '@resource/database'
import type { Caller } from '../access/caller.ts'

/** What a procedure knows of its call besides the input. */
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

export interface WriteOptions<Prepared> {
  /** Whether the input holds a secret, which the fingerprint kept for repeats must not reveal. */
  isSecret?: boolean
  /**
   * Whether the work writes at most once, by one method of one table. When absent: whether the procedure takes or gives the
   * id of one record.
   */
  autocommit?: boolean
  /**
   * What is slow and needs no transaction, such as hashing; left out when the answer is known already.
   *
   * @param isBegun whether a fingerprint of the call, which hides its secrets, was made before
   */
  prepare?: (isBegun: boolean) => Promise<Prepared>
}

/**
 * Runs the write of one call in a transaction, once per idempotency key, with an audit entry for each change.
 *
 * @param work is given the transaction, and what `prepare` made
 * @throws ApiError 409 when the idempotency key was used with another input
 */
export type Write = <Answer, Prepared = undefined>(
  work: (tx: Tables, prepared: Prepared) => Promise<Answer>,
  options?: WriteOptions<Prepared>,
) => Promise<Answer>

/** The context of a mutation. */
export interface MutationContext extends Context {
  write: Write
}

/** The services behind the procedures. */
export type Services = Implementation<Context, MutationContext>
