import { nameOf, type Resource, type Row } from '../resources/resource.ts'
import { formatCount } from '../ui/format.ts'
import { QuestionDialog } from '../ui/QuestionDialog.tsx'

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
    <QuestionDialog title={`Delete ${what}?`} keep="Cancel" act="Delete" onKeep={onClose} onAct={onDelete}>
      <p>
        {rows.length > 1 && `${names.join(', ')}${rows.length > 5 ? ` and ${rows.length - 5} more` : ''}. `}
        You cannot undo this.
      </p>
    </QuestionDialog>
  )
}
