import { useLabel } from './labels.ts'
import type { Column, Noun } from './resource.ts'
import { formatNumber } from './value-text.ts'

// Swedish writes times as 2026-01-31 08:05: like dates, and of one width.
const date = new Intl.DateTimeFormat('sv', { dateStyle: 'short' })
const clock = new Intl.DateTimeFormat('sv', { timeStyle: 'short' })

// A dot adds no information that the word does not have.
const DOTS: Record<string, string | undefined> = { active: 'dot', inactive: 'dot off' }

interface Props {
  column: Pick<Column, 'kind' | 'decimals' | 'refersTo'>
  value: unknown
  /** Decimals of a number; without it, as many as it has. */
  decimals?: number
}

/** A value of a record, which a translation of the page does not change. */
export function Value({ column, value, decimals }: Props) {
  const { kind, refersTo } = column
  if (value === null || value === undefined) return <span className="nothing">none</span>
  if (refersTo !== undefined) return <Label noun={refersTo} id={value} />
  if (kind === 'time') return <Time value={String(value)} />
  if (kind === 'number') {
    return <span translate="no">{formatNumber(Number(value), decimals ?? column.decimals, decimals)}</span>
  }
  const dot = kind === 'choice' ? DOTS[String(value)] : undefined
  return (
    <bdi translate="no" className={dot && 'status'}>
      {dot && <span className={dot} />}
      {String(value)}
    </bdi>
  )
}

/** The name of a record, by its id. */
export function Label({ noun, id }: { noun: Noun | undefined; id: unknown }) {
  return <bdi translate="no">{useLabel(noun, id)}</bdi>
}

function Time({ value }: { value: string }) {
  const moment = new Date(value)
  return (
    <time dateTime={value} translate="no">
      {date.format(moment)}
      <span className="clock"> {clock.format(moment)}</span>
    </time>
  )
}
