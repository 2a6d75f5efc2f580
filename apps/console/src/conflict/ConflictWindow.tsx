import { Button } from 'react-aria-components'
import { nameOf, type Resource } from '../resources/resource.ts'
import { Window } from '../ui/Window.tsx'
import type { Conflict } from './conflict.ts'
import { Versions } from './Versions.tsx'

interface Props {
  resource: Resource
  conflict: Conflict
  onKeep: () => void
  onOverwrite: () => void
}

/** An action on a record that has changed since it was shown: both versions, to decide by. */
export function ConflictWindow({ resource, conflict, onKeep, onOverwrite }: Props) {
  const { action, row, stored } = conflict
  const isDeletion = action.done === 'deleted'
  return (
    <Window title={`${nameOf(resource, row)} was changed meanwhile`} role="alertdialog" isWide onClose={onKeep}>
      <p>Someone else changed this {resource.one} after it was shown to you. Nothing has been written yet.</p>
      <Versions
        resource={resource}
        title={isDeletion ? 'What you saw' : 'Your version'}
        mine={action.apply(row)}
        stored={stored}
      />
      <footer>
        <Button className="button" onPress={onKeep} autoFocus>
          Keep the stored one
        </Button>
        <Button className="button danger" onPress={onOverwrite}>
          {action.label} anyway
        </Button>
      </footer>
    </Window>
  )
}
