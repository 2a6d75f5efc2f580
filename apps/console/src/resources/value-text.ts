import type { Column } from './resource.ts'

const MOST_DECIMALS = 6

/** The decimals that all these values need, at least `fewest`. */
export function decimalsOf(values: unknown[], fewest: number): number {
  const needed = values.map((value) => {
    const text = Number(value ?? 0).toLocaleString('en', { maximumFractionDigits: MOST_DECIMALS })
    return text.split('.')[1]?.length ?? 0
  })
  return Math.max(fewest, ...needed)
}

/** `1,204.50`, with at least `fewest` decimals and at most `most`. */
export function formatNumber(value: number, fewest: number, most = 20): string {
  return value.toLocaleString('en', { minimumFractionDigits: fewest, maximumFractionDigits: most })
}

/** A value of a record as text: `12.50`, `none`. */
export function valueText({ kind, decimals }: Column, value: unknown): string {
  if (value === null || value === undefined) return 'none'
  return kind === 'number' ? formatNumber(Number(value), decimals) : String(value)
}
