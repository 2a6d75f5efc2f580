import type { ReactNode } from 'react'

interface Props {
  label: string
  /** The titles, each with the class of its cell. The last column has the actions of a row. */
  columns: (readonly [title: string, className?: string])[]
  /** The rows. */
  children: ReactNode
}

/** The table of a page that is a list of things other than records. */
export function ListTable({ label, columns, children }: Props) {
  return (
    <div className="bleed">
      <table className="table stack" aria-label={label}>
        <thead>
          <tr>
            {columns.map(([title, className]) => (
              <th key={title} scope="col" className={className}>
                {title}
              </th>
            ))}
            <th scope="col" className="tight">
              <span className="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
