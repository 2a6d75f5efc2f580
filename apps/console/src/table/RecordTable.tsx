import {
  Button,
  Cell,
  Column,
  type Selection,
  type SortDescriptor,
  Table,
  TableBody,
  TableHeader,
  Row as TableRow,
} from 'react-aria-components'
import { type Action, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { Check } from '../ui/Check.tsx'
import { Value } from '../ui/Value.tsx'

interface Props {
  resource: Resource
  rows: Row[]
  sort: string | undefined
  /** Whether these are the rows of the view before. */
  isStale: boolean
  selection: Selection
  onSelect: (selection: Selection) => void
  onSort: (sort: string) => void
  onOpen: (id: number) => void
  onAct: (action: Action, row: Row) => void
  onDelete: (row: Row) => void
}

/** The rows with their checkboxes and buttons; arrows move, Space selects, Enter opens. */
export function RecordTable(props: Props) {
  const { resource, rows, sort, isStale, selection, onSelect, onSort, onOpen, onAct, onDelete } = props
  const { columns, nameField, actions } = resource
  const sorted = sort === undefined ? {} : { sortDescriptor: descriptorOf(sort) }
  return (
    <Table
      aria-label={resource.title}
      className={isStale ? 'records stale' : 'records'}
      selectionMode="multiple"
      selectedKeys={selection}
      onSelectionChange={onSelect}
      onRowAction={(key) => onOpen(Number(key))}
      {...sorted}
      onSortChange={({ column, direction }) => onSort(`${column}_${direction === 'ascending' ? 'asc' : 'desc'}`)}
    >
      <TableHeader>
        <Column className="pick">
          <Check slot="selection" />
        </Column>
        {columns.map(({ field, label, kind, isSortable }) => (
          <Column key={field} id={field} className={kind} isRowHeader={field === nameField} allowsSorting={isSortable}>
            {label}
            <span className="arrow" aria-hidden="true" />
          </Column>
        ))}
        <Column className="doings">Actions</Column>
      </TableHeader>
      <TableBody items={rows} dependencies={[resource]}>
        {(row) => (
          <TableRow>
            <Cell className="pick">
              <Check slot="selection" />
            </Cell>
            {columns.map(({ field, kind, label }) => (
              <Cell key={field} className={field === nameField ? `${kind} name` : kind} data-label={label}>
                <Value kind={kind} value={row[field]} />
              </Cell>
            ))}
            <Cell className="doings">
              <Button className="small" onPress={() => onOpen(row.id)} aria-label={`Edit ${nameOf(resource, row)}`}>
                Edit
              </Button>
              {actions
                .filter(({ isFor }) => isFor(row))
                .map((action) => (
                  <Button
                    key={action.label}
                    className="small"
                    onPress={() => onAct(action, row)}
                    aria-label={`${action.label} ${nameOf(resource, row)}`}
                  >
                    {action.label}
                  </Button>
                ))}
              <Button
                className="small danger"
                onPress={() => onDelete(row)}
                aria-label={`Delete ${nameOf(resource, row)}`}
              >
                Delete
              </Button>
            </Cell>
          </TableRow>
        )}
      </TableBody>
    </Table>
  )
}

function descriptorOf(sort: string): SortDescriptor {
  const split = sort.lastIndexOf('_')
  return { column: sort.slice(0, split), direction: sort.endsWith('_desc') ? 'descending' : 'ascending' }
}
