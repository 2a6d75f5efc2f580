import type { ReactNode } from 'react'
import type { Action, Resource, Row } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { formatCount } from '../ui/format.ts'
import { useBulk } from './bulk.ts'
import { deletion } from './changes.ts'
import { sharedFields } from './edit-many.ts'
import type { Permissions } from './permissions.ts'
import type { Selection } from './selection.ts'

interface Props {
  resource: Resource
  selection: Selection
  /** The number of records that match the filters, on all pages. */
  total: number | undefined
  permissions: Permissions
  onEdit: () => void
  /** Previews an action on these records; without them, on all matching ones. */
  onAsk: (action: Action, rows?: Row[]) => void
}

/** Actions on the selected records; hidden without a selection. */
export function SelectionBar({ resource, selection, total = 0, permissions, onEdit, onAsk }: Props): ReactNode {
  const { rows, elsewhere, isAll, isEverything } = selection
  const { can, isProposing } = permissions
  const may = (verb: string) => can(verb) || isProposing
  const bulk = useBulk(resource, selection)
  const count = isEverything ? total : rows.length
  const canSelectAll = isAll && !isEverything && total > rows.length && may('updateWhere')
  return (
    <div className={count === 0 ? 'selection hidden' : 'selection'}>
      <p role="status">
        {count > 0 && `${isEverything ? 'All ' : ''}${formatCount(count, resource)} selected`}
        {isEverything ? ', on all pages' : elsewhere > 0 && `, ${elsewhere.toLocaleString('en')} on other pages`}
      </p>
      {count > 0 && (
        <div className="buttons">
          {canSelectAll && (
            <Button onPress={selection.selectEverything}>Select all {total.toLocaleString('en')} matching</Button>
          )}
          {may('updateWhere') && sharedFields(resource).length > 0 && (
            <Button onPress={onEdit}>Edit {count.toLocaleString('en')}…</Button>
          )}
          {bulkActions(resource).map((action) => {
            const fitting = rows.filter(action.isFor)
            if (isEverything || isProposing) {
              return (
                <Button key={action.label} onPress={() => onAsk(action, isEverything ? undefined : rows)}>
                  {action.label} {count.toLocaleString('en')}…
                </Button>
              )
            }
            return (
              fitting.length > 0 && (
                <Button key={action.label} onPress={() => void bulk.act(action, fitting)}>
                  {action.label} {fitting.length}
                  {fitting.length < rows.length && ` of ${rows.length}`}
                </Button>
              )
            )
          })}
          {may(isEverything ? 'deleteMatching' : 'delete') && (
            <Button
              className="button danger"
              onPress={() => onAsk(deletion(resource), isEverything ? undefined : rows)}
            >
              Delete {count.toLocaleString('en')}…
            </Button>
          )}
          <Button onPress={selection.clear}>Clear selection</Button>
        </div>
      )}
    </div>
  )
}

function bulkActions({ actions }: Resource): Action[] {
  return actions.filter(({ changes }) => changes !== undefined)
}
