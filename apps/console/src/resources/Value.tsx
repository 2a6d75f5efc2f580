import type { ColumnKind } from './resource.ts'

// Swedish writes times as 2026-01-31 08:05: like dates, and of one width.
const date = new Intl.DateTimeFormat('sv', { dateStyle: 'short' })
const clock = new Intl.DateTimeFormat('sv', { timeStyle: 'short' })
const MOST_DECIMALS = 6

interface Props {
  kind: ColumnKind
  value: unknown
  /** Decimals of a number; without it, as many as it has. */
  decimals?: number
}

/** A value in a table cell. */
export function Value({ kind, value, decimals }: Props) {
  if (value === null || value === undefined) return <span className="nothing">none</span>
  if (kind === 'badge') return <bdi className={`chip ${badgeTone(value)}`}>{String(value)}</bdi>
  if (kind === 'number') return formatNumber(Number(value), decimals)
  if (kind === 'time') return <Time value={String(value)} />
  return <bdi>{String(value)}</bdi>
}

function Time({ value }: { value: string }) {
  const moment = new Date(value)
  return (
    <time dateTime={value}>
      {date.format(moment)}
      <span className="clock"> {clock.format(moment)}</span>
    </time>
  )
}

/** The decimals that all these values need, at least `fewest`. */
export function decimalsOf(values: unknown[], fewest: number): number {
  const needed = values.map((value) => {
    const text = Number(value ?? 0).toLocaleString('en', { maximumFractionDigits: MOST_DECIMALS })
    return text.split('.')[1]?.length ?? 0
  })
  return Math.max(fewest, ...needed)
}

/** `1,204.50` */
export function formatNumber(value: number, decimals?: number): string {
  return value.toLocaleString('en', {
    minimumFractionDigits: decimals ?? 0,
    maximumFractionDigits: decimals ?? 20,
  })
}

// The color adds no information that the text does not have.
function badgeTone(value: unknown): string {
  const tones: Record<string, string> = { active: 'good', inactive: 'dim', admin: 'strong' }
  return tones[String(value)] ?? ''
}
