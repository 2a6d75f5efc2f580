import type { ReactNode } from 'react'

interface Props {
  caption: string
  /** Whether the caption is for screen readers only. */
  isCaptionHidden?: boolean
  /** The titles of the columns. The first column names the rows. */
  titles: string[]
  rows: { key: string | number; name: ReactNode; values: ReactNode[] }[]
}

/** A table of values. On a narrow screen, the values of a row stand below each other, each next to its title. */
export function ValueTable({ caption, isCaptionHidden = true, titles, rows }: Props) {
  return (
    <table className="table values">
      <caption className={isCaptionHidden ? 'hidden' : ''}>{caption}</caption>
      <thead>
        <tr>
          {titles.map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, name, values }) => (
          <tr key={key}>
            <th scope="row">{name}</th>
            {titles.slice(1).map((title, index) => (
              <td key={title} data-label={title}>
                <div>{values[index]}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
