/** Upper bounds of the histogram buckets in seconds: from a read of SQLite to longer than any caller waits. */
export const BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** A histogram of durations. */
export class Timings {
  /** By bucket; the last counts durations above all bounds. */
  readonly counts: number[] = Array(BUCKETS.length + 1).fill(0)
  sumSeconds = 0

  /**
   * @param since from `performance.now()`
   * @returns the duration in seconds
   */
  add(since: number): number {
    const seconds = (performance.now() - since) / 1000
    ;(this.counts[bucketOf(seconds)] as number)++
    this.sumSeconds += seconds
    return seconds
  }
}

/** The index of the bucket of a duration. */
export function bucketOf(seconds: number): number {
  let index = 0
  while (index < BUCKETS.length && seconds > (BUCKETS[index] as number)) index++
  return index
}
