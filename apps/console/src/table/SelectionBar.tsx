import type { Action, Resource, Row } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { formatCount } from '../ui/format.ts'

interface Props {
  resource: Resource
  /** The selected rows. */
  rows: Row[]
  onAct: (action: Action, rows: Row[]) => void
  onDelete: (rows: Row[]) => void
  onClear: () => void
}

/** Actions on the selected records; hidden without a selection. */
export function SelectionBar({ resource, rows, onAct, onDelete, onClear }: Props) {
  return (
    <div className={rows.length === 0 ? 'selection hidden' : 'selection'}>
      <p role="status">{rows.length > 0 && `${formatCount(rows.length, resource)} selected`}</p>
      {rows.length > 0 && (
        <div className="buttons">
          {resource.actions.map((action) => {
            const fitting = rows.filter(action.isFor)
            return (
              fitting.length > 0 && (
                <Button key={action.label} onPress={() => onAct(action, fitting)}>
                  {action.label} {fitting.length}
                </Button>
              )
            )
          })}
          <Button className="button danger" onPress={() => onDelete(rows)}>
            Delete {rows.length}…
          </Button>
          <Button onPress={onClear}>Clear selection</Button>
        </div>
      )}
    </div>
  )
}
