import { nameOf, type Resource, type Row } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { Window } from '../ui/Window.tsx'
import { counted } from '../ui/words.ts'

interface Props {
  resource: Resource
  rows: Row[]
  onClose: () => void
  onDelete: () => void
}

/** Asks before records are deleted, and names them. */
export function DeleteWindow({ resource, rows, onClose, onDelete }: Props) {
  const [only] = rows
  const what = rows.length === 1 && only ? nameOf(resource, only) : counted(rows.length, resource)
  const names = rows.slice(0, 5).map((row) => nameOf(resource, row))
  return (
    <Window title={`Delete ${what}?`} role="alertdialog" onClose={onClose}>
      <p>
        {rows.length > 1 && `${names.join(', ')}${rows.length > 5 ? ` and ${rows.length - 5} more` : ''}. `}
        This cannot be undone.
      </p>
      <footer>
        <Button onPress={onClose} autoFocus>
          Cancel
        </Button>
        <Button className="button danger" onPress={onDelete}>
          Delete
        </Button>
      </footer>
    </Window>
  )
}
