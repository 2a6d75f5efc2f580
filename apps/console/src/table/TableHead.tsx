import { ArrowDown, ArrowUp } from 'lucide-react'
import type { Column } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import type { Selection } from './selection.ts'

interface Props {
  columns: Column[]
  sort: string
  /** Absent if rows cannot be selected. */
  selection: Selection | undefined
  onSort: (sort: string) => void
}

/** The titles of the columns, by which the list is sorted. */
export function TableHead({ columns, sort, selection, onSort }: Props) {
  return (
    <thead>
      <tr>
        {selection !== undefined && (
          <th scope="col" className="row pick">
            <label>
              <input
                type="checkbox"
                tabIndex={-1}
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
        {columns.map(({ field, label, kind, isSortable }) => {
          const order = ariaSort(field, sort)
          const Arrow = order === 'descending' ? ArrowDown : ArrowUp
          return (
            <th key={field} scope="col" className={kind} aria-sort={order} tabIndex={-1}>
              {isSortable ? (
                <Button
                  className="sort"
                  tabIndex={-1}
                  onPress={() => onSort(sort === `${field}_asc` ? `${field}_desc` : `${field}_asc`)}
                >
                  {label}
                  {order !== undefined && <Arrow />}
                </Button>
              ) : (
                label
              )}
            </th>
          )
        })}
        <th scope="col" className="actions" tabIndex={-1}>
          <span className="hidden">Actions</span>
        </th>
      </tr>
    </thead>
  )
}

function ariaSort(field: string, sort: string): 'ascending' | 'descending' | undefined {
  if (sort === `${field}_asc`) return 'ascending'
  return sort === `${field}_desc` ? 'descending' : undefined
}
