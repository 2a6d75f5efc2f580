import { Download, Pencil, Trash2, X } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Action, Resource, Row } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
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
  onExport: () => void
}

/** Actions on the selected records, above the table; hidden without a selection. */
export function SelectionBar(props: Props): ReactNode {
  const { resource, selection, total = 0, permissions, onEdit, onAsk, onExport } = props
  const { rows, elsewhere, isEverything } = selection
  const { can, isProposing } = permissions
  const may = (verb: string) => can(verb) || isProposing
  const bulk = useBulk(resource, selection)
  const count = isEverything ? total : rows.length
  const canSelectAll = !isEverything && total > rows.length && may('updateWhere')
  return (
    <div className={count === 0 ? 'selection hidden' : 'selection'} role="toolbar" aria-label="Selection">
      <p role="status">
        {count > 0 && (
          <b>
            {isEverything && 'All '}
            {count.toLocaleString('en')} <span className="hidden">{count === 1 ? resource.one : resource.many} </span>
            selected
          </b>
        )}
        {isEverything ? ', on all pages' : elsewhere > 0 && `, ${elsewhere.toLocaleString('en')} on other pages`}
      </p>
      {count > 0 && (
        <>
          {canSelectAll && (
            <Button className="link" onPress={selection.selectEverything}>
              Select all {total.toLocaleString('en')}
            </Button>
          )}
          <span className="split" />
          {may('updateWhere') && sharedFields(resource).length > 0 && (
            <Button className="button small" icon={Pencil} onPress={onEdit}>
              Change…
            </Button>
          )}
          {bulkActions(resource).map((action) => {
            const fitting = rows.filter(action.isFor)
            if (isEverything || isProposing) {
              return (
                <Button
                  key={action.label}
                  className="button small"
                  onPress={() => onAsk(action, isEverything ? undefined : rows)}
                >
                  {action.label}…
                </Button>
              )
            }
            return (
              fitting.length > 0 && (
                <Button key={action.label} className="button small" onPress={() => void bulk.act(action, fitting)}>
                  {action.label} {fitting.length}
                </Button>
              )
            )
          })}
          <Button className="button small" icon={Download} onPress={onExport}>
            Export…
          </Button>
          {may(isEverything ? 'deleteMatching' : 'delete') && (
            <Button
              className="button small danger"
              icon={Trash2}
              onPress={() => onAsk(deletion(resource), isEverything ? undefined : rows)}
            >
              Delete…
            </Button>
          )}
          <Button className="button small icon" icon={X} aria-label="Clear the selection" onPress={selection.clear} />
        </>
      )}
    </div>
  )
}

function bulkActions({ actions }: Resource): Action[] {
  return actions.filter(({ changes }) => changes !== undefined)
}
