import { labelOf } from './labels.ts'
import type { Column } from './resource.ts'

const MOST_DECIMALS = 6
const MOST_DIGITS = 20

/** The decimals that all these values need, at least `fewest`. */
export function decimalsOf(values: unknown[], fewest: number): number {
  const needed = values.map((value) => formatNumber(Number(value ?? 0), 0, MOST_DECIMALS).split('.')[1]?.length ?? 0)
  return Math.max(fewest, ...needed)
}

// Creating a format takes a hundred times as long as using it.
const formats = new Map<string, Intl.NumberFormat>()

/** `1,204.50`, with at least `fewest` decimals and at most `most`. */
export function formatNumber(value: number, fewest: number, most = MOST_DIGITS): string {
  const key = `${fewest} ${most}`
  const options = { minimumFractionDigits: fewest, maximumFractionDigits: most }
  const format = formats.get(key) ?? new Intl.NumberFormat('en', options)
  formats.set(key, format)
  return format.format(value)
}

/** A value of a record as text: `12.50`, `none`. */
export function valueText({ kind, decimals, refersTo }: Column, value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (refersTo !== undefined) return labelOf(refersTo, value)
  return kind === 'number' ? formatNumber(Number(value), decimals) : String(value)
}
