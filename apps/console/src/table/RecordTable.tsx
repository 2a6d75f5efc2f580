import { type Action, editVerb, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { Value } from '../resources/Value.tsx'
import { Button } from '../ui/Button.tsx'
import type { Selection } from './selection.ts'

interface Props {
  resource: Resource
  rows: Row[]
  sort: string | undefined
  /** Whether the rows belong to the previous view. */
  isStale: boolean
  /** Ids of the records with a pending request. */
  pendingIds: Set<number>
  /** Whether the role allows a procedure. */
  can: (verb: string) => boolean
  selection: Selection
  onSort: (sort: string) => void
  onOpen: (id: number) => void
  onAct: (action: Action, row: Row) => void
  onDelete: (row: Row) => void
}

/** The rows with their checkboxes and buttons. Shift-click on a checkbox selects a range. */
export function RecordTable(props: Props) {
  const {
    resource,
    rows,
    sort = 'id_asc',
    isStale,
    pendingIds,
    can,
    selection,
    onSort,
    onOpen,
    onAct,
    onDelete,
  } = props
  const { columns, nameField } = resource
  const actions = resource.actions.filter(({ verb }) => can(verb))
  const canEdit = can(editVerb(resource.noun))
  const canDelete = can('delete')
  // Without any allowed action, checkboxes and buttons have no use.
  const isReadOnly = !canEdit && !canDelete && actions.length === 0
  return (
    <table aria-label={resource.title} className={isStale ? 'records stale' : 'records'}>
      <thead>
        <tr>
          {!isReadOnly && (
            <th scope="col" className="pick">
              <label>
                <input
                  type="checkbox"
                  checked={selection.isAll}
                  ref={(box) => {
                    if (box !== null) box.indeterminate = selection.isSome
                  }}
                  onChange={() => selection.toggleAll()}
                />
                <span>Select all on this page</span>
              </label>
            </th>
          )}
          {columns.map(({ field, label, kind, isSortable }) => (
            <th key={field} scope="col" className={kind} aria-sort={ariaSort(field, sort)}>
              {isSortable ? (
                <Button
                  className="sort"
                  onPress={() => onSort(sort === `${field}_asc` ? `${field}_desc` : `${field}_asc`)}
                >
                  {label}
                </Button>
              ) : (
                label
              )}
            </th>
          ))}
          {!isReadOnly && (
            <th scope="col" className="actions">
              Actions
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const name = nameOf(resource, row)
          const isPending = pendingIds.has(row.id)
          const isSelected = selection.has(row.id)
          return (
            <tr key={row.id} className={isSelected ? 'selected' : ''}>
              {!isReadOnly && (
                <td className="pick">
                  <input
                    type="checkbox"
                    aria-label={`Select ${name}`}
                    checked={isSelected}
                    onChange={({ nativeEvent }) => selection.toggle(row.id, (nativeEvent as MouseEvent).shiftKey)}
                  />
                </td>
              )}
              {columns.map(({ field, kind, label }) =>
                field === nameField ? (
                  <th key={field} scope="row" className="name">
                    <Value kind={kind} value={row[field]} />
                  </th>
                ) : (
                  <td key={field} className={kind} data-label={label}>
                    <Value kind={kind} value={row[field]} />
                  </td>
                ),
              )}
              {!isReadOnly && (
                <td className="actions">
                  {canEdit && (
                    <Button className="small" onPress={() => onOpen(row.id)} aria-label={`Edit ${name}`}>
                      Edit
                    </Button>
                  )}
                  {actions
                    .filter(({ isFor }) => isFor(row))
                    .map((action, index) => (
                      <Button
                        // The index as key keeps the focus when Deactivate becomes Activate.
                        key={index}
                        className="small"
                        isDisabled={isPending}
                        onPress={() => onAct(action, row)}
                        aria-label={`${action.label} ${name}`}
                      >
                        {action.label}
                      </Button>
                    ))}
                  {canDelete && (
                    <Button
                      className="small danger"
                      isDisabled={isPending}
                      onPress={() => onDelete(row)}
                      aria-label={`Delete ${name}`}
                    >
                      Delete
                    </Button>
                  )}
                </td>
              )}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

function ariaSort(field: string, sort: string): 'ascending' | 'descending' | undefined {
  if (sort === `${field}_asc`) return 'ascending'
  return sort === `${field}_desc` ? 'descending' : undefined
}
