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

/** Median of the ratios by round. Both arrays have one value per round, in the same order. */
export function ratioOf(numerators: number[], denominators: number[]): number {
  return spread(numerators.map((value, round) => value / (denominators[round] as number))).median
}
