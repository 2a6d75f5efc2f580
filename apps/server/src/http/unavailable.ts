import { Damaged, DiskFull, DurabilityLost, isBusy, Unreachable } from '@resource/database'
import { ApiError } from '@resource/openapi'

const REASONS = [
  ['cannot be reached', Unreachable],
  ['is out of disk space', DiskFull],
  ['cannot be written', DurabilityLost],
  ['is damaged', Damaged],
] as const

/** Converts a database error that is temporary into an ApiError 503; undefined for any other error. */
export function unavailable(error: unknown): ApiError | undefined {
  if (!isBusy(error)) return undefined
  const [reason] = REASONS.find(([, kind]) => error instanceof kind) ?? ['is busy']
  return new ApiError(503, `The database ${reason}; try again`, { headers: { 'Retry-After': '1' }, cause: error })
}
