import type { Resource } from '../resources/resource.ts'
import { nameOf } from '../resources/resource.ts'
import { useRow } from '../table/rows.ts'
import { Failure } from '../ui/Failure.tsx'
import { Window } from '../ui/Window.tsx'
import { RecordForm } from './RecordForm.tsx'

interface Props {
  resource: Resource
  onClose: () => void
}

/** The form of a new record. */
export function NewWindow({ resource, onClose }: Props) {
  return (
    <Window title={`New ${resource.one}`} onClose={onClose}>
      <RecordForm resource={resource} onClose={onClose} />
    </Window>
  )
}

/** The form of a stored record. */
export function EditWindow({ resource, id, onClose }: Props & { id: number }) {
  const { data: row, error, refetch } = useRow(resource, id)
  return (
    <Window title={row === undefined ? `Edit ${resource.one}` : `Edit ${nameOf(resource, row)}`} onClose={onClose}>
      {row !== undefined && <RecordForm resource={resource} row={row} onClose={onClose} />}
      {row === undefined && error !== null && (
        <Failure title={`This ${resource.one} cannot be shown`} error={error} onRetry={refetch} />
      )}
      {row === undefined && error === null && (
        <p role="status" className="waiting">
          Loading the {resource.one}…
        </p>
      )}
    </Window>
  )
}
