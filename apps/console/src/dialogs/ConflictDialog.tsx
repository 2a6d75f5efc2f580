import type { Conflict } from '../conflict/conflict.ts'
import { Versions } from '../conflict/Versions.tsx'
import { nameOf, type Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { ModalDialog } from '../ui/ModalDialog.tsx'

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
    <ModalDialog title={`${nameOf(resource, row)} was changed by someone else`} role="alertdialog" onClose={onKeep}>
      <Versions resource={resource} opened={row} stored={stored} mine={mine} />
      <footer>
        <Button onPress={onKeep} autoFocus>
          Keep the stored version
        </Button>
        <Button className="button danger" onPress={onOverwrite}>
          {action.label} anyway
        </Button>
      </footer>
    </ModalDialog>
  )
}
