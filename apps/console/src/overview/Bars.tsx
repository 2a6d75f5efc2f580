import type { Bar } from './counts.ts'

interface Props {
  caption: string
  bars: Bar[]
}

/** A small bar chart that screen readers read as a table. */
export function Bars({ caption, bars }: Props) {
  const largest = Math.max(1, ...bars.map(({ value }) => value))
  return (
    <table className="bars">
      <caption>{caption}</caption>
      <tbody>
        {bars.map(({ label, value, text }) => (
          <tr key={label}>
            <th scope="row">{label}</th>
            <td className="drawn">
              <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
                <rect width={(100 * value) / largest} height="1" />
              </svg>
            </td>
            <td>{text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
