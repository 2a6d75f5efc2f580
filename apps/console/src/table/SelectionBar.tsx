import { Button } from 'react-aria-components'
import type { Action, Resource, Row } from '../resources/resource.ts'
import { counted } from '../ui/words.ts'

interface Props {
  resource: Resource
  /** The selected ones. */
  rows: Row[]
  onAct: (action: Action, rows: Row[]) => void
  onDelete: (rows: Row[]) => void
  onClear: () => void
}

/** What can be done to the selected records; not there while none is selected. */
export function SelectionBar({ resource, rows, onAct, onDelete, onClear }: Props) {
  return (
    <div className="selection" hidden={rows.length === 0}>
      <p role="status">{rows.length > 0 && `${counted(rows.length, resource.many)} selected`}</p>
      {resource.actions.map((action) => {
        const fitting = rows.filter(action.isFor)
        return (
          fitting.length > 0 && (
            <Button key={action.label} className="button" onPress={() => onAct(action, fitting)}>
              {action.label} {fitting.length}
            </Button>
          )
        )
      })}
      <Button className="button danger" onPress={() => onDelete(rows)}>
        Delete {rows.length}…
      </Button>
      <Button className="button" onPress={onClear}>
        Clear selection
      </Button>
    </div>
  )
}
