import { Link } from 'wouter'
import type { Summary } from '../resources/calls.ts'
import type { Column, Resource } from '../resources/resource.ts'
import { Value } from '../resources/Value.tsx'
import { decimalsOf, formatNumber } from '../resources/value-text.ts'

/** The number of groups that a card has room for. */
export const SHOWN = 8
/** The figures of a measure. The order of the records begins with those that have the figure. */
const FIGURES = [
  { word: 'Lowest', of: 'minimum', order: 'asc' },
  { word: 'Mean', of: 'mean', order: undefined },
  { word: 'Highest', of: 'maximum', order: 'desc' },
] as const
const TEXT = { kind: 'text' as const, decimals: 0 }

interface Props {
  caption: string
  resource: Resource
  /** The field that the records are grouped by. */
  group: Column
  /** The field whose range and mean show, if the records have one. */
  measure: Column | undefined
  summaries: Summary[]
  asOf: string
}

/** The largest groups as a bar chart that screen readers read as a table. Its figures link to the records. */
export function Groups({ caption, resource, group, measure, summaries, asOf }: Props) {
  const shown = summaries.slice(0, SHOWN)
  const largest = Math.max(1, ...shown.map(({ count }) => count))
  const decimals = decimalsOf(
    shown.flatMap(({ minimum, maximum }) => [minimum, maximum]),
    measure?.decimals ?? 0,
  )
  const named = measure?.label.toLowerCase()
  const time = new Date(asOf).toLocaleTimeString('sv', { timeStyle: 'short' })
  if (shown.length === 0) return <p className="waiting">No {resource.many} yet, so there is nothing to count.</p>
  return (
    <table className={measure === undefined ? 'bars' : 'bars measured'}>
      <caption>
        {caption}{' '}
        <span className="hint">
          {summaries.length > SHOWN && `the ${SHOWN} largest, `}at {time}
        </span>
      </caption>
      <thead className={measure === undefined ? 'hidden' : ''}>
        <tr>
          <th scope="col">{group.label}</th>
          <td className="drawn" />
          <th scope="col">{resource.title}</th>
          {measure !== undefined &&
            FIGURES.map(({ word }) => (
              <th key={word} scope="col">
                {word} {named}
              </th>
            ))}
        </tr>
      </thead>
      <tbody>
        {shown.map(({ value, count, ...figures }) => {
          const query = value === null ? undefined : new URLSearchParams({ [group.field]: value })
          const filtered = query && `/${resource.noun}?${query}`
          // No filter finds the records without a value, but in ascending order they are the first.
          const href = filtered ?? (group.isSortable ? `/${resource.noun}?sort=${group.field}_asc` : undefined)
          return (
            <tr key={JSON.stringify(value)}>
              <th scope="row">
                {href === undefined ? (
                  <Value column={TEXT} value={value} />
                ) : (
                  <Link href={href} className="row-link">
                    <Value column={TEXT} value={value} />
                  </Link>
                )}
              </th>
              <td className="drawn">
                <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                  <rect width={(100 * count) / largest} height="1" />
                </svg>
              </td>
              <td className="count">{count.toLocaleString('en')}</td>
              {measure !== undefined &&
                FIGURES.map(({ word, of, order }) => (
                  <Figure
                    key={word}
                    label={`${word} ${named}`}
                    value={figures[of]}
                    decimals={order === undefined ? Math.max(1, decimals) : decimals}
                    href={filtered && order && `${filtered}&sort=${measure.field}_${order}`}
                  />
                ))}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

interface FigureProps {
  label: string
  value: number | null
  decimals: number
  href?: string | undefined
}

function Figure({ label, value, decimals, href }: FigureProps) {
  const text = value === null ? '–' : short(value, decimals)
  return <td data-label={label}>{href === undefined || value === null ? text : <Link href={href}>{text}</Link>}</td>
}

// Six columns have no room for more digits.
function short(value: number, decimals: number): string {
  return value < 1e6
    ? formatNumber(value, decimals, decimals)
    : value.toLocaleString('en', { notation: 'compact', maximumFractionDigits: 2 })
}
