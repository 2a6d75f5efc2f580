import {
  Damaged,
  DiskFull,
  DurabilityLost,
  FileMoved,
  InDoubt,
  isBusy,
  NoServer,
  ReadOnly,
  Unreachable,
  Unusable,
} from '@resource/database'
import { ApiError } from '@resource/openapi'

// In the order of their tests: a subclass before its class. A fault that lasts until someone mends it has a long Retry-After,
// beyond the time limit of the typed client, which then gives up at once.
const REASONS = [
  [
    InDoubt,
    'did not confirm the write, which may have been stored: only a repetition with the same Idempotency-Key is safe',
    1,
  ],
  [Unreachable, 'cannot be reached; try again', 1],
  [DiskFull, 'is out of disk space: free some space on its disk', 60],
  [FileMoved, 'cannot be written, because its file was moved or replaced: restart the service', 60],
  [DurabilityLost, 'cannot be written, because its disk failed: check the disk and restart the service', 60],
  [Damaged, 'is damaged: restore a backup', 60],
] as const

/** Converts a database error that is not the caller's fault into an ApiError 503; undefined for any other error. */
export function unavailable(error: unknown): ApiError | undefined {
  if (!isBusy(error)) return undefined
  const refusal = (message: string, seconds: number) =>
    new ApiError(503, message, { headers: { 'Retry-After': String(seconds) }, cause: error })
  if (error instanceof ReadOnly) return refusal(error.message, 5)
  if (error instanceof NoServer) return refusal(error.message, 1)
  if (error instanceof Unusable) return refusal(error.message, 60)
  const found = REASONS.find(([kind]) => error instanceof kind)
  return refusal(`The database ${found?.[1] ?? 'is busy; try again'}`, found?.[2] ?? 1)
}

/** @throws ApiError 503 for a database error that is not the caller's fault, or the error */
export function refuse(error: unknown): never {
  throw unavailable(error) ?? error
}
