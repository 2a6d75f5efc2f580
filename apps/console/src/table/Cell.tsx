import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react'
import { Link } from 'wouter'
import type { Field } from '../resources/field.ts'
import type { Column, Resource, Row } from '../resources/resource.ts'
import { Value } from '../resources/Value.tsx'
import { CellInput } from './CellInput.tsx'
import type { Place } from './places.ts'

interface Props {
  resource: Resource
  column: Column
  row: Row
  /** The name of the record. */
  name: string
  place: Place
  /** Whether somebody else has just changed the value. */
  isFresh: boolean
  /** The record's page, in the cell that names the record. */
  href: string | undefined
  decimals: number
  /** Absent if the cell cannot be edited. */
  editField: Field | undefined
  isEditing: boolean
  /** Follows the name. */
  note?: ReactNode
  onKeyDown: (event: KeyboardEvent) => void
  onStart: () => void
  onSave: (seen: Row, value: unknown) => void
  onCancel: (error?: string) => void
}

/** One value of a record, or its input. */
export function Cell({
  resource,
  column,
  row,
  name,
  place,
  isFresh,
  href,
  decimals,
  editField,
  isEditing,
  onStart,
  onSave,
  onCancel,
  ...props
}: Props) {
  const { field, kind, label } = column
  const cell = useRef<HTMLTableCellElement>(null)
  const wasEditing = useRef(false)
  const shown = <Value column={column} value={row[field]} decimals={decimals} />
  const value = isFresh ? <span className="fresh">{shown}</span> : shown
  const Tag = href === undefined ? 'td' : 'th'

  // The focus returns from the input to its cell.
  useEffect(() => {
    const target = cell.current?.querySelector('a') ?? cell.current
    if (wasEditing.current && !isEditing && document.activeElement === document.body) target?.focus()
    wasEditing.current = isEditing
  }, [isEditing])

  return (
    <Tag
      ref={cell}
      {...(href !== undefined && { scope: 'row' })}
      className={`${kind} ${place}${editField === undefined ? '' : ' editable'}`}
      data-label={label}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key === 'F2' && editField !== undefined) onStart()
        else props.onKeyDown(event)
      }}
      onDoubleClick={() => editField !== undefined && onStart()}
    >
      {isEditing && editField !== undefined ? (
        <>
          {/* It keeps the width of the column. */}
          <span className="below-input" aria-hidden="true">
            {value}
          </span>
          <CellInput
            resource={resource}
            field={editField}
            row={row}
            label={`${label} of ${name}`}
            onSave={onSave}
            onCancel={onCancel}
          />
        </>
      ) : href === undefined ? (
        value
      ) : (
        <>
          <Link href={href} tabIndex={-1} state={{ from: window.location.search }} onClick={() => remember(row)}>
            {value}
          </Link>
          {props.note}
        </>
      )}
    </Tag>
  )
}

/** Makes the Back button return to the row. */
export function remember({ id }: Row) {
  window.history.replaceState({ ...window.history.state, row: id }, '')
}
