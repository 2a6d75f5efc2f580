/** The changes of a number: an amount to add, or a factor. */
export type Calculation = { add: number } | { multiply: number }

/**
 * The number after a change, rounded half up as decimal numbers are: 3.015 to 3.02, although the nearest binary number is
 * below 3.015.
 */
export function calculated(value: number, change: Calculation, decimals: number): number {
  const exact = 'add' in change ? value + change.add : value * change.multiply
  const factor = 10 ** decimals
  // Adding 0 turns -0 into 0.
  return Math.round(Number((exact * factor).toPrecision(15))) / factor + 0
}
