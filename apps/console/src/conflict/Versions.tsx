import type { Resource, Row } from '../resources/resource.ts'
import { Value } from '../resources/Value.tsx'
import { ValueTable } from '../ui/ValueTable.tsx'

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
      <ValueTable
        caption="The versions, field by field"
        titles={['Field', ...versions.map(({ title }) => title)]}
        rows={columns.map((column) => {
          const { field, label } = column
          const differs = (mine ?? opened)[field] !== stored[field]
          return {
            key: field,
            className: differs ? 'differs' : '',
            name: (
              <>
                {label}
                {differs && <span className="differs-word"> differs</span>}
              </>
            ),
            values: versions.map(({ title, record }) => <Value key={title} column={column} value={record[field]} />),
          }
        })}
      />
    </>
  )
}
