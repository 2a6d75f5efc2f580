import type { IncomingHttpHeaders } from 'node:http'
import type { Implementation } from '@resource/contract'
import type { Scopes, Tables, TablesAndPrisma, WriteControl } from '@resource/database'
import type { z } from 'zod'
import type { Caller } from '../access/caller.ts'
import type { Effect } from './audited-tables.ts'

/** The context of a call. */
export interface Context {
  caller: Caller
  /** As in the request log. */
  requestId?: string
  /** The client's address; behind trusted proxies, the address they forward. */
  address?: () => string
  /** The headers of the HTTP request, if it contains only this call. */
  headers?: IncomingHttpHeaders | undefined
  /**
   * Called with the id of an earlier request with the same idempotency key, if the answer is that request's; absent if the request
   * has several calls.
   */
  onReplay?: ((requestId: string | null) => void) | undefined
  /** The effect that a write must have, or else it does nothing: `If-Effect`. */
  ifEffect?: string | undefined
  /** The group that the client gave the request: `X-Request-Group`. */
  group?: string | undefined
  /** Gets the effect of a write before its transaction ends, and that transaction unless nothing was written. An error undoes it. */
  settle?: (effect: Effect, tx: Tables | undefined) => Promise<void>
  /** Whether `settle` always throws. */
  isDryRun?: boolean
  /** The call that this one carries out. */
  once?: Once | undefined
  /** Who proposed the write, if the caller applies a proposal. */
  proposedBy?: string
  /** Whether to reject unknown fields of the input. */
  isStrict?: boolean
  /**
   * Counts the work of a call against the caller's quota; absent for local calls.
   *
   * @param work `rows`: those that it is going to write; `readMs`: the time that its long reads have taken
   * @throws ApiError 429 if the quota does not cover the rows
   */
  spend?: (work: { rows: number } | { readMs: number }) => void
  /** Whether the caller has closed the connection, or its half of it; absent for local calls. */
  isGone?: () => boolean
  /**
   * Refuses further such requests before any work is done for them, as long as too much work of the caller waits for the
   * database; absent for local calls.
   *
   * @param caller of the work
   */
  refuseNext?: (caller: string) => void
  /** The request, if it can wait long; absent for local calls. */
  session?: () => Session
  /** Which records exist for the caller; absent if all do. */
  scopes?: Scopes | undefined
  /** The tables for reads, of which only the scopes of the caller exist: they include the caller's own earlier writes, but may lack the latest writes of others. */
  read: TablesAndPrisma
}

/** A request that waits long for something other than the service. */
export interface Session {
  /** The same for all requests with the same credentials. */
  credentials: string
  /** Identifies the caller again. @throws ApiError 401 or 403 */
  caller: () => Caller | Promise<Caller>
  /** Notes whether it waits: then it takes no place of the requests in progress. */
  rest: (isResting: boolean) => void
  close: () => void
}

/** A call that writes once. */
export interface Once {
  procedure: string
  /** Of its input. */
  schema: z.ZodType
  input: { idempotency_key?: string | undefined }
  hasWritten: boolean
  /** Whether an earlier response was replayed. */
  isReplayed?: boolean
}

export interface WriteOptions<Prepared> {
  /** Whether the input contains a secret, which the stored fingerprint must not reveal. */
  isSecret?: boolean
  /** Whether `work` writes at most once, by one method of one table, which saves two round trips on PostgreSQL. */
  autocommit?: boolean
  /** The number of records that `work` writes, from the result of `prepare`; one by default. */
  countOf?: (prepared: Prepared) => number
  /** The id of the request that the write undoes. */
  reverses?: string
  /**
   * Slow work that needs no transaction, such as hashing. Skipped if a stored response is replayed.
   *
   * @param isContinuation whether the call already used the hashing queue, for its fingerprint
   */
  prepare?: (isContinuation: boolean) => Promise<Prepared>
}

/**
 * Runs the write of one call in a transaction, once per idempotency key, with an audit entry for each change.
 *
 * A call writes once.
 *
 * @param work gets the transaction, the result of `prepare`, and `attempt`, which undoes a failed part of the write alone
 * @throws ApiError 409 if the idempotency key was used with a different input
 */
export type Write = <Result, Prepared = undefined>(
  work: (tx: TablesAndPrisma, prepared: Prepared, attempt: WriteControl['attempt']) => Promise<Result>,
  options?: WriteOptions<Prepared>,
) => Promise<Result>

/** The context of a mutation. */
export interface MutationContext extends Context {
  write: Write
}

/** The implementations of all procedures. */
export type Services = Implementation<Context, MutationContext>
