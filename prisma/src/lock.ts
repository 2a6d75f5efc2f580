import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 10

/**
 * Tries until a lock that somebody else holds is let go. SQLite can wait by itself, but its driver is synchronous:
 * every request would wait with it, and so would a write of this process that holds the lock.
 *
 * @param longestMs after this the attempt's own error is thrown
 * @param isLocked whether an error of the attempt says that the lock is held
 */
export async function whenUnlocked<T>(
  longestMs: number,
  isLocked: (error: unknown) => boolean,
  attempt: () => T | Promise<T>,
): Promise<T> {
  const deadline = Date.now() + longestMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!isLocked(error) || Date.now() >= deadline) throw error
    }
    await sleep(POLL_MS)
  }
}
