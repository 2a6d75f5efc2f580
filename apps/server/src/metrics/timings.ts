/** Upper ends of the classes, in seconds: from a read of SQLite to what no caller waits for. */
export const CLASSES = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** How often something took how long. */
export class Timings {
  /** By class; the last is of what took longer than all. */
  readonly counts: number[] = Array(CLASSES.length + 1).fill(0)
  sumSeconds = 0

  /** @param since as `performance.now()` gave it */
  add(since: number): void {
    const seconds = (performance.now() - since) / 1000
    let index = 0
    while (index < CLASSES.length && seconds > (CLASSES[index] as number)) index++
    ;(this.counts[index] as number)++
    this.sumSeconds += seconds
  }
}
