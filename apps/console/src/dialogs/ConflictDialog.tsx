import type { Conflict } from '../conflict/conflict.ts'
import { Versions } from '../conflict/Versions.tsx'
import { nameOf, type Resource } from '../resources/resource.ts'
import { QuestionDialog } from '../ui/QuestionDialog.tsx'

interface Props {
  resource: Resource
  conflict: Conflict
  onKeep: () => void
  onOverwrite: () => void
}

/** Shows both versions of a record that changed before an action, so that the user can choose. */
export function ConflictDialog({ resource, conflict, onKeep, onOverwrite }: Props) {
  const { action, row, stored } = conflict
  // What "anyway" would store: the action changes the stored version.
  const mine = action.apply(stored)
  return (
    <QuestionDialog
      title={`${nameOf(resource, row)} was changed by someone else`}
      keep="Keep the stored version"
      act={`${action.label} anyway`}
      onKeep={onKeep}
      onAct={onOverwrite}
    >
      <Versions resource={resource} opened={row} stored={stored} mine={mine} />
    </QuestionDialog>
  )
}
