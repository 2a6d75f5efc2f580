import type { Conflict } from '../conflict/conflict.ts'
import { Versions } from '../conflict/Versions.tsx'
import { nameOf, type Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { Window } from '../ui/Window.tsx'

interface Props {
  resource: Resource
  conflict: Conflict
  onKeep: () => void
  onOverwrite: () => void
}

/** An action on a record that has changed since it was shown: both versions, to decide by. */
export function ConflictWindow({ resource, conflict, onKeep, onOverwrite }: Props) {
  const { action, row, stored } = conflict
  const mine = action.apply(row)
  return (
    <Window title={`${nameOf(resource, row)} was changed meanwhile`} role="alertdialog" onClose={onKeep}>
      <Versions
        resource={resource}
        title={mine === undefined ? 'What you saw' : 'Your version'}
        mine={mine ?? row}
        stored={stored}
      />
      <footer>
        <Button onPress={onKeep} autoFocus>
          Keep the stored one
        </Button>
        <Button className="button danger" onPress={onOverwrite}>
          {action.label} anyway
        </Button>
      </footer>
    </Window>
  )
}
