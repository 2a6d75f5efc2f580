import type { WriteControl } from './database.ts'
import type { RecordedChange } from './tables/audit.ts'
import type { Executor } from './tables/executor.ts'
import { guarded } from './tables/guarded.ts'

const SAVEPOINT = { text: 'SAVEPOINT "attempt"', values: [] }
const RELEASE = { text: 'RELEASE SAVEPOINT "attempt"', values: [] }
const ROLLBACK_TO = { text: 'ROLLBACK TO SAVEPOINT "attempt"', values: [] }

/**
 * Adds attempts to the executor of a transaction.
 *
 * @param changes those that the transaction records: a failed attempt leaves none
 */
export function withAttempts(
  executor: Executor,
  changes: RecordedChange[] = [],
): Pick<WriteControl, 'attempt'> & { guarded: Executor } {
  let failure: Error | undefined
  return {
    guarded: guarded(executor, () => {
      if (failure !== undefined) throw failure
    }),
    attempt: async (work) => {
      await executor.run(SAVEPOINT)
      const before = changes.length
      try {
        const result = await work()
        await executor.run(RELEASE)
        return result
      } catch (error) {
        changes.length = before
        try {
          await executor.run(ROLLBACK_TO)
          await executor.run(RELEASE)
        } catch {
          // The engine has ended the transaction, for example because the disk is full.
          failure = new Error('The transaction was rolled back because a statement in it failed.', { cause: error })
        }
        throw error
      }
    },
  }
}
