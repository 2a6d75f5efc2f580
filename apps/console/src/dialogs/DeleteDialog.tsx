import { nameOf, type Resource, type Row } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { formatCount } from '../ui/format.ts'
import { ModalDialog } from '../ui/ModalDialog.tsx'

interface Props {
  resource: Resource
  rows: Row[]
  onClose: () => void
  onDelete: () => void
}

/** Asks for confirmation before records are deleted, and names them. */
export function DeleteDialog({ resource, rows, onClose, onDelete }: Props) {
  const [first] = rows
  const what = rows.length === 1 && first ? nameOf(resource, first) : formatCount(rows.length, resource)
  const names = rows.slice(0, 5).map((row) => nameOf(resource, row))
  return (
    <ModalDialog title={`Delete ${what}?`} role="alertdialog" onClose={onClose}>
      <p>
        {rows.length > 1 && `${names.join(', ')}${rows.length > 5 ? ` and ${rows.length - 5} more` : ''}. `}
        You cannot undo this.
      </p>
      <footer>
        <Button onPress={onClose} autoFocus>
          Cancel
        </Button>
        <Button className="button danger" onPress={onDelete}>
          Delete
        </Button>
      </footer>
    </ModalDialog>
  )
}
