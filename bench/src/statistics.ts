export interface Spread {
  median: number
  min: number
  max: number
}

export function spread(values: number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  return { median: percentile(sorted, 0.5), min: sorted[0] as number, max: sorted.at(-1) as number }
}

/** @param sorted ascending */
export function percentile(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number
}

/** How many times `below` is in `above`: the median of what each round, in which both had their turns, says. */
export function ratioOf(above: number[], below: number[]): number {
  return spread(above.map((value, round) => value / (below[round] as number))).median
}
