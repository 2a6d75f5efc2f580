import { type Action, editVerb, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { Value } from '../resources/Value.tsx'
import { Button } from '../ui/Button.tsx'
import type { Selection } from './selection.ts'

interface Props {
  resource: Resource
  rows: Row[]
  sort: string | undefined
  /** Whether these are the rows of the view before. */
  isStale: boolean
  /** Ids of the records that wait for the service's answer. */
  awaiting: Set<number>
  /** Whether the role allows a procedure. */
  may: (verb: string) => boolean
  selection: Selection
  onSort: (sort: string) => void
  onOpen: (id: number) => void
  onAct: (action: Action, row: Row) => void
  onDelete: (row: Row) => void
}

/** The rows with their checkboxes and buttons. Shift with a checkbox takes all rows since the last. */
export function RecordTable(props: Props) {
  const { resource, rows, sort = 'id_asc', isStale, awaiting, may, selection, onSort, onOpen, onAct, onDelete } = props
  const { columns, nameField } = resource
  const actions = resource.actions.filter(({ verb }) => may(verb))
  const mayEdit = may(editVerb(resource.noun))
  const mayDelete = may('delete')
  // Where nothing can be done to records there is nothing to pick them for.
  const isForReading = !mayEdit && !mayDelete && actions.length === 0
  return (
    <table aria-label={resource.title} className={isStale ? 'records stale' : 'records'}>
      <thead>
        <tr>
          {!isForReading && (
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
          {!isForReading && (
            <th scope="col" className="doings">
              Actions
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => {
          const name = nameOf(resource, row)
          const isAwaiting = awaiting.has(row.id)
          const isSelected = selection.has(row.id)
          return (
            <tr key={row.id} className={isSelected ? 'selected' : ''}>
              {!isForReading && (
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
              {!isForReading && (
                <td className="doings">
                  {mayEdit && (
                    <Button className="small" onPress={() => onOpen(row.id)} aria-label={`Edit ${name}`}>
                      Edit
                    </Button>
                  )}
                  {actions
                    .filter(({ isFor }) => isFor(row))
                    .map((action, place) => (
                      <Button
                        // By place, so that the keyboard stays when Deactivate becomes Activate.
                        key={place}
                        className="small"
                        isDisabled={isAwaiting}
                        onPress={() => onAct(action, row)}
                        aria-label={`${action.label} ${name}`}
                      >
                        {action.label}
                      </Button>
                    ))}
                  {mayDelete && (
                    <Button
                      className="small danger"
                      isDisabled={isAwaiting}
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
