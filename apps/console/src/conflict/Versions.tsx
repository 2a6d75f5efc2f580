import type { Resource } from '../resources/resource.ts'
import { Value } from '../resources/Value.tsx'

interface Props {
  resource: Resource
  /** Heading of the left column: `Your version`. */
  title: string
  mine: Record<string, unknown>
  stored: Record<string, unknown>
}

/** Two versions of a record side by side, with the differences marked. */
export function Versions({ resource, title, mine, stored }: Props) {
  const columns = resource.columns.filter(({ kind, field }) => kind !== 'time' && kind !== 'id' && field in mine)
  return (
    <>
      <p role="alert">Someone else changed this {resource.one} in the meantime. Nothing is saved yet.</p>
      <table className="versions">
        <caption className="hidden">Both versions, field by field</caption>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">{title}</th>
            <th scope="col">Stored now</th>
          </tr>
        </thead>
        <tbody>
          {columns.map(({ field, label, kind }) => {
            const differs = mine[field] !== stored[field]
            return (
              <tr key={field} className={differs ? 'differs' : ''}>
                <th scope="row">
                  {label}
                  {differs && <span className="differs-word"> differs</span>}
                </th>
                <td>
                  <Value kind={kind} value={mine[field]} />
                </td>
                <td>
                  <Value kind={kind} value={stored[field]} />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </>
  )
}
