import type { Resource, Row } from '../resources/resource.ts'
import { Value } from '../resources/Value.tsx'
import { actorName } from '../table/actor.ts'
import { Ago } from '../ui/Ago.tsx'
import { useHistory } from './history.ts'

interface Props {
  resource: Resource
  row: Row
  hasHistory: boolean
}

/** The state of a record in a line: what its actions set, when and by whom it was changed, its version. */
export function RecordStatus({ resource, row, hasHistory }: Props) {
  const { actions, recordColumns } = resource
  const set = new Set(actions.flatMap(({ changes = {} }) => Object.keys(changes)))
  const [newest] = useHistory(resource, row.id, hasHistory).data?.pages[0]?.audit ?? []
  const at = newest?.at ?? row.updated_at
  return (
    <p className="sub">
      {recordColumns
        .filter(({ field }) => set.has(field))
        .map((column) => (
          <Value key={column.field} column={column} value={row[column.field]} />
        ))}
      {typeof at === 'string' && (
        <span>
          {newest?.before === null ? 'created' : 'changed'} <Ago at={at} />
          {newest !== undefined && (
            <>
              {' by '}
              <bdi translate="no">{actorName(newest)}</bdi>
            </>
          )}
        </span>
      )}
      <span className="only-wide">version {row.version}</span>
    </p>
  )
}
