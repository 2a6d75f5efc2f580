import { DiskFull, DurabilityLost, isBusy, Unreachable } from '@resource/database'
import { ApiError } from '@resource/openapi'

const TROUBLES = [
  ['cannot be reached', Unreachable],
  ['has no room', DiskFull],
  ['cannot be written', DurabilityLost],
] as const

/** An error of the database as a ApiError 503, where it means that it cannot answer now. */
export function unavailable(error: unknown): ApiError | undefined {
  if (!isBusy(error)) return undefined
  const [trouble] = TROUBLES.find(([, kind]) => error instanceof kind) ?? ['is busy']
  return new ApiError(503, `The database ${trouble}; try again`, { headers: { 'Retry-After': '1' }, cause: error })
}
