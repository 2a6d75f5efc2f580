import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 10

/**
 * Retries while another connection holds a lock. SQLite's own busy timeout would block the event loop, because its driver is
 * synchronous: every request would wait, and so would the write of this process that holds the lock.
 *
 * @param timeoutMs after this time the error of the attempt is thrown
 * @param isLocked whether an error of the attempt means that the lock is held
 */
export async function retryWhileLocked<T>(
  timeoutMs: number,
  isLocked: (error: unknown) => boolean,
  attempt: () => T | Promise<T>,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!isLocked(error) || performance.now() >= deadline) throw error
    }
    await sleep(POLL_MS)
  }
}
