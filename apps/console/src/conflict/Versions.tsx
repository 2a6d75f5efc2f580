import type { Resource, Row } from '../resources/resource.ts'
import { Value } from '../resources/Value.tsx'

interface Props {
  resource: Resource
  /** The version that the user began with. */
  opened: Row
  stored: Row
  /** What would be stored; absent for a deletion. */
  mine: Record<string, unknown> | undefined
}

/** The versions of a record side by side, with the differences marked. */
export function Versions({ resource, opened, stored, mine }: Props) {
  const columns = resource.columns.filter(({ kind, field }) => kind !== 'time' && kind !== 'id' && field in stored)
  const versions = [
    { title: 'When you opened it', record: opened },
    { title: 'Stored now', record: stored },
    ...(mine === undefined ? [] : [{ title: 'Yours', record: mine }]),
  ]
  return (
    <>
      <p role="alert">
        Someone else changed this {resource.one} in the meantime. Nothing is saved yet
        {mine !== undefined && ', and nothing that you entered is lost'}.
      </p>
      <table className="versions">
        <caption className="hidden">The versions, field by field</caption>
        <thead>
          <tr>
            <th scope="col">Field</th>
            {versions.map(({ title }) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {columns.map((column) => {
            const { field, label } = column
            const differs = (mine ?? opened)[field] !== stored[field]
            return (
              <tr key={field} className={differs ? 'differs' : ''}>
                <th scope="row">
                  {label}
                  {differs && <span className="differs-word"> differs</span>}
                </th>
                {versions.map(({ title, record }) => (
                  <td key={title} data-label={title}>
                    <Value column={column} value={record[field]} />
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </>
  )
}
