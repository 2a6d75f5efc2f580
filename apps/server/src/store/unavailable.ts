import { Full, isBusy, Unreachable } from '@resource/database'
import { Problem } from '@resource/openapi'

/** An error of the database as a Problem 503, where it means that it cannot answer now. */
export function unavailable(error: unknown): Problem | undefined {
  if (!isBusy(error)) return undefined
  const trouble = error instanceof Unreachable ? 'cannot be reached' : error instanceof Full ? 'has no room' : 'is busy'
  return new Problem(503, `The database ${trouble}; try again`, { headers: { 'Retry-After': '1' }, cause: error })
}
