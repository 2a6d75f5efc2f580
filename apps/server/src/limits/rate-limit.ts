import { MAX_BODY_BYTES } from '@resource/contract'
import { ApiError } from '@resource/openapi'
import type { Request } from 'express'
import { ANONYMOUS, type Caller } from '../access/caller.ts'
import { callerAddress } from '../http/address.ts'
import { type Allowance, type Quota, WINDOW_MS } from './quota.ts'

const TALLY = Symbol('tally')

/** The count of one request. */
interface Tally {
  caller: string
  allowance: Allowance
  callsCounted: boolean
  /** The units counted for calls, body and rows. */
  cost: number
  /** The rows that the calls write. */
  rows: number
  /** The time that the long reads of the calls took. */
  readMs: number
}

type Counted = Request & { [TALLY]?: Tally }

// Procedures that cost more than one short query; any other costs 1.
const COSTLY = new Set(['createMany', 'updateMany', 'updateWhere', 'deleteWhere'])
const HIGH_COST = 10
// Each full KiB of a request body costs one unit.
const BYTES_PER_UNIT = 1024
// A bulk write of a thousand short records costs about as much as its body.
const ROWS_PER_UNIT = 20
// With the default limit one caller can occupy one core.
const READ_MS_PER_UNIT = 10

export type RateLimit = ReturnType<typeof createRateLimit>

/**
 * Counts requests against the quota of their callers.
 *
 * @param behindProxy whether the address comes from trusted proxies
 */
export function createRateLimit(quota: Quota, behindProxy: boolean) {
  const policy = `"default";q=${quota.limit};w=${WINDOW_MS / 1000}`

  let refused = 0

  const take = (tally: Tally, cost: number) => {
    tally.allowance = quota.take(tally.caller, cost, performance.now())
    if (!tally.allowance.granted) throw refusal(tally)
  }

  const refusal = ({ allowance: { resetSeconds } }: Tally) => {
    refused++
    return new ApiError(429, `Too many requests; try again in ${resetSeconds} s`, {
      headers: { 'Retry-After': String(resetSeconds) },
      reason: 'rate_limit',
    })
  }

  // No request costs more than the quota of a window.
  const units = (bytes: number) => Math.min(Math.floor(bytes / BYTES_PER_UNIT), quota.limit)
  const readUnits = (readMs: number) => Math.min(Math.floor(readMs / READ_MS_PER_UNIT), quota.limit)
  const bodyCost = ({ headers }: Request) => {
    const bytes = Number(headers['content-length'] ?? 0)
    // A larger one is refused unread.
    return bytes > MAX_BODY_BYTES ? 0 : units(bytes)
  }
  // A chunked body has a known size only after it has arrived. The part that arrives with the head, at most 64 KiB, is free.
  const countWhenRead = ({ socket, res }: Request, { caller }: Tally) => {
    const before = socket.bytesRead
    res?.once('close', () => quota.spend(caller, units(socket.bytesRead - before), performance.now()))
  }

  return {
    /** Counts a request by its address. @returns false, without counting, if the address has exhausted its quota */
    count: (req: Counted): boolean => {
      const now = performance.now()
      const caller = quota.addressCaller(callerAddress(req, behindProxy), now)
      const allowance = quota.take(caller, 1, now)
      req[TALLY] = { caller, allowance, callsCounted: false, cost: 1, rows: 0, readMs: 0 }
      return allowance.granted
    },
    /**
     * Counts a request by its caller, if its address has exhausted its quota.
     *
     * @throws ApiError 429 if the caller is undefined or has exhausted its quota as well
     */
    countCaller: (req: Counted, caller: Caller | undefined): void => {
      const tally = req[TALLY] as Tally
      if (caller === undefined) throw refusal(tally)
      tally.caller = caller.name
      take(tally, 1)
    },
    /**
     * Counts the cost of a request's calls or of its body, whichever is higher, minus the unit already counted. Counts once
     * per request. A request with credentials is counted by its caller instead of its address.
     *
     * @param procedures the procedure of each call, such as `users.createMany`
     * @throws ApiError 429
     */
    countCalls: (req: Counted, procedures: readonly string[], caller: Caller): void => {
      const tally = req[TALLY]
      if (tally === undefined || tally.callsCounted) return
      tally.callsCounted = true
      // A full quota covers any request.
      let cost = Math.min(Math.max(costOf(procedures), bodyCost(req)), quota.limit)
      tally.cost = cost
      if (caller === ANONYMOUS || tally.caller === caller.name) cost--
      else {
        quota.spend(tally.caller, -1, performance.now())
        tally.caller = caller.name
      }
      if (cost > 0) take(tally, cost)
      if (req.headers['transfer-encoding'] !== undefined) countWhenRead(req, tally)
    },
    /**
     * Counts the work of a request's calls as far as its cost exceeds what is already counted.
     *
     * @throws ApiError 429 if the quota does not cover the rows
     */
    countWork: (req: Counted, work: { rows: number } | { readMs: number }): void => {
      const tally = req[TALLY]
      if (tally === undefined) return
      if ('readMs' in work) {
        const paid = readUnits(tally.readMs)
        tally.readMs += work.readMs
        quota.spend(tally.caller, readUnits(tally.readMs) - paid, performance.now())
        return
      }
      tally.rows += work.rows
      const cost = Math.min(Math.floor(tally.rows / ROWS_PER_UNIT), quota.limit) - tally.cost
      if (cost <= 0) return
      take(tally, cost)
      tally.cost += cost
    },
    /** The number of refused requests. */
    refused: () => refused,
    /** The response headers `RateLimit` and `RateLimit-Policy`. */
    headers: (req: Counted): Record<string, string> | undefined => {
      const tally = req[TALLY]
      if (tally === undefined) return undefined
      const { remaining, resetSeconds } = tally.allowance
      return { RateLimit: `"default";r=${remaining};t=${resetSeconds}`, 'RateLimit-Policy': policy }
    },
  }
}

function costOf(procedures: readonly string[]): number {
  let cost = 0
  for (const procedure of procedures) cost += COSTLY.has(procedure.slice(procedure.indexOf('.') + 1)) ? HIGH_COST : 1
  return cost
}
