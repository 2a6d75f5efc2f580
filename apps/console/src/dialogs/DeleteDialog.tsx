import { nameOf, type Resource, type Row } from '../resources/resource.ts'
import { QuestionDialog } from '../ui/QuestionDialog.tsx'

interface Props {
  resource: Resource
  row: Row
  onClose: () => void
  onDelete: () => void
}

/** Asks for confirmation before a record is deleted. */
export function DeleteDialog({ resource, row, onClose, onDelete }: Props) {
  return (
    <QuestionDialog
      title={`Delete ${nameOf(resource, row)}?`}
      keep="Cancel"
      act="Delete"
      onKeep={onClose}
      onAct={onDelete}
    >
      <p>You can undo this.</p>
    </QuestionDialog>
  )
}
