import { Ellipsis } from 'lucide-react'
import { memo, type RefObject } from 'react'
import { type Action, nameOf, type Resource, type Row } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { Cell, type CellLayout, type RowActs } from './Cell.tsx'
import type { Mark } from './live.ts'

interface Props {
  resource: Resource
  layout: CellLayout[]
  row: Row
  /** The record's page. */
  href: string
  /** What others just did to the record. */
  mark: Mark | undefined
  canSelect: boolean
  isSelected: boolean
  /** The field whose cell is edited. */
  edited: string | undefined
  actions: Action[]
  /** The procedures that wait for their answers, separated by commas. */
  pending: string
  menuId: string
  /** Those of the last render of the table: a row is rendered only if its own values change. */
  acts: RefObject<RowActs>
}

/** One record of a table. */
export const RecordRow = memo(function RecordRow(props: Props) {
  const { resource, layout, row, href, mark, canSelect, isSelected, edited, actions, pending, menuId, acts } = props
  const name = nameOf(resource, row)
  const possible = actions.filter(({ isFor }) => isFor(row))
  return (
    <tr
      data-id={row.id}
      className={[isSelected && 'selected', mark?.kind].filter(Boolean).join(' ')}
      aria-selected={canSelect ? isSelected : undefined}
    >
      {canSelect && (
        <td className="row pick">
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={`Select ${name}`}
            checked={isSelected}
            onChange={({ nativeEvent }) => acts.current.toggle(row.id, (nativeEvent as MouseEvent).shiftKey)}
          />
        </td>
      )}
      {layout.map((cell) => {
        const { field } = cell.column
        const isName = field === resource.nameField
        return (
          <Cell
            key={field}
            resource={resource}
            layout={cell}
            row={row}
            name={name}
            isFresh={mark?.fields.includes(field) ?? false}
            href={isName ? href : undefined}
            hasActor={isName && mark?.kind === 'changed'}
            isEditing={edited === field}
            acts={acts}
          />
        )
      })}
      <td className="row actions">
        <span className="row direct">
          {possible.map((action, index) => (
            <Button
              // The index as key keeps the focus when Deactivate becomes Activate.
              key={index}
              className="button small"
              tabIndex={-1}
              isDisabled={pending.split(',').includes(action.verb)}
              onPress={() => acts.current.act(action, row)}
              aria-label={`${action.label} ${name}`}
            >
              {action.label}
            </Button>
          ))}
        </span>
        <Button
          className="button ghost icon small more"
          icon={Ellipsis}
          tabIndex={-1}
          popoverTarget={menuId}
          aria-label={`Actions for ${name}`}
          onPress={() => acts.current.showMenu(row)}
        />
      </td>
    </tr>
  )
})
