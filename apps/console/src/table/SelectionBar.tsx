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
  can: Permissions['can']
  onEdit: () => void
  onDelete: (rows: Row[]) => void
  /** Previews an action on all matching records. */
  onActOnAll: (action: Action) => void
}

/** Actions on the selected records; hidden without a selection. */
export function SelectionBar({ resource, selection, total = 0, can, onEdit, onDelete, onActOnAll }: Props): ReactNode {
  const { rows, elsewhere, isAll, isEverything } = selection
  const bulk = useBulk(resource, selection)
  const count = isEverything ? total : rows.length
  const canSelectAll = isAll && !isEverything && total > rows.length && can('updateWhere')
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
          {can('updateWhere') && sharedFields(resource).length > 0 && (
            <Button onPress={onEdit}>Edit {count.toLocaleString('en')}…</Button>
          )}
          {isEverything ? (
            <EverythingActions resource={resource} total={total} can={can} onAct={onActOnAll} />
          ) : (
            <SelectedActions resource={resource} rows={rows} can={can} onAct={bulk.act} onDelete={onDelete} />
          )}
          <Button onPress={selection.clear}>Clear selection</Button>
        </div>
      )}
    </div>
  )
}

function SelectedActions({
  resource,
  rows,
  can,
  onAct,
  onDelete,
}: Pick<Props, 'resource' | 'can' | 'onDelete'> & { rows: Row[]; onAct: (action: Action, rows: Row[]) => unknown }) {
  return (
    <>
      {bulkActions(resource).map((action) => {
        const fitting = rows.filter(action.isFor)
        return (
          fitting.length > 0 && (
            <Button key={action.label} onPress={() => onAct(action, fitting)}>
              {action.label} {fitting.length}
              {fitting.length < rows.length && ` of ${rows.length}`}
            </Button>
          )
        )
      })}
      {can('delete') && (
        <Button className="button danger" onPress={() => onDelete(rows)}>
          Delete {rows.length}…
        </Button>
      )}
    </>
  )
}

function EverythingActions({
  resource,
  total,
  can,
  onAct,
}: Pick<Props, 'resource' | 'can'> & { total: number; onAct: Props['onActOnAll'] }) {
  return (
    <>
      {bulkActions(resource).map((action) => (
        <Button key={action.label} onPress={() => onAct(action)}>
          {action.label} {total.toLocaleString('en')}…
        </Button>
      ))}
      {can('deleteMatching') && (
        <Button className="button danger" onPress={() => onAct(deletion(resource))}>
          Delete {total.toLocaleString('en')}…
        </Button>
      )}
    </>
  )
}

function bulkActions({ actions }: Resource): Action[] {
  return actions.filter(({ changes }) => changes !== undefined)
}
