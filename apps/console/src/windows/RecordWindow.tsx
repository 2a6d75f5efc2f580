import { RecordForm } from '../form/RecordForm.tsx'
import { nameOf, type Resource } from '../resources/resource.ts'
import { useRow } from '../table/rows.ts'
import { Missing } from '../ui/Missing.tsx'
import { Window } from '../ui/Window.tsx'

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
  const query = useRow(resource, id)
  const { data: row } = query
  return (
    <Window title={row === undefined ? `Edit ${resource.one}` : `Edit ${nameOf(resource, row)}`} onClose={onClose}>
      {row !== undefined && <RecordForm resource={resource} row={row} onClose={onClose} />}
      {row === undefined && (
        <Missing query={query} title={`This ${resource.one} cannot be shown`}>
          <p role="status" className="waiting">
            Loading the {resource.one}…
          </p>
        </Missing>
      )}
    </Window>
  )
}
