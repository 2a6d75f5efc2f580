import type { ColumnKind } from './resource.ts'

const time = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })

interface Props {
  kind: ColumnKind
  value: unknown
}

/** A value in a table cell. */
export function Value({ kind, value }: Props) {
  if (value === null || value === undefined) return <span className="nothing">none</span>
  if (kind === 'badge') return <span className={`chip ${badgeTone(value)}`}>{String(value)}</span>
  if (kind === 'number') return Number(value).toLocaleString('en', { maximumFractionDigits: 20 })
  if (kind === 'time') return <time dateTime={String(value)}>{time.format(new Date(String(value)))}</time>
  return String(value)
}

// The color adds no information that the text does not have.
function badgeTone(value: unknown): string {
  const tones: Record<string, string> = { active: 'good', inactive: 'dim', admin: 'strong' }
  return tones[String(value)] ?? ''
}
