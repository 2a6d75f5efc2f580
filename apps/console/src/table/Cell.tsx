import { type KeyboardEvent, type MouseEvent, memo, type RefObject } from 'react'
import type { Field } from '../resources/field.ts'
import type { Action, Column, Noun, Resource, Row } from '../resources/resource.ts'
import { Value } from '../resources/Value.tsx'
import { useActor } from './actor.ts'
import { CellInput } from './CellInput.tsx'
import type { Place } from './places.ts'

/** What the cells of a column have in common. */
export interface CellLayout {
  column: Column
  place: Place
  decimals: number
  /** Absent if the cells cannot be edited. */
  editField: Field | undefined
}

/** What users do in the rows of a table. */
export interface RowActs {
  toggle: (id: number, isRange: boolean) => void
  act: (action: Action, row: Row) => void
  showMenu: (row: Row) => void
  /** Opens the record's page. */
  open: (event: MouseEvent | KeyboardEvent, row: Row) => void
  press: (event: KeyboardEvent, row: Row) => void
  edit: (row: Row, field: string) => void
  /** @param seen the record as it was when the edit began */
  save: (seen: Row, field: string, value: unknown) => void
  /** @param error why the typed value was not saved; undefined if the user cancelled */
  cancel: (row: Row, error?: string) => void
}

interface Props {
  resource: Resource
  layout: CellLayout
  row: Row
  /** The name of the record. */
  name: string
  /** Whether somebody else has just changed the value. */
  isFresh: boolean
  /** The record's page, in the cell that names the record. */
  href: string | undefined
  /** Whether who changed the record follows its name. */
  hasActor: boolean
  isEditing: boolean
  acts: RefObject<RowActs>
}

/** One value of a record, or its input. */
export const Cell = memo(function Cell({
  resource,
  layout,
  row,
  name,
  isFresh,
  href,
  hasActor,
  isEditing,
  acts,
}: Props) {
  const { column, place, decimals, editField } = layout
  const { field, kind, label } = column
  const shown = <Value column={column} value={row[field]} decimals={decimals} />
  const value = isFresh ? <span className="fresh">{shown}</span> : shown
  const Tag = href === undefined ? 'td' : 'th'

  return (
    <Tag
      {...(href !== undefined && { scope: 'row' })}
      className={`${kind} ${place}${editField === undefined ? '' : ' editable'}`}
      data-label={label}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key === 'F2' && editField !== undefined) acts.current.edit(row, field)
        else acts.current.press(event, row)
      }}
      onDoubleClick={() => editField !== undefined && acts.current.edit(row, field)}
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
            onSave={(seen, value) => acts.current.save(seen, field, value)}
            onCancel={(error) => acts.current.cancel(row, error)}
          />
        </>
      ) : href === undefined ? (
        value
      ) : (
        <>
          <a href={href} tabIndex={-1} onClick={(event) => acts.current.open(event, row)}>
            {value}
          </a>
          {hasActor && <By noun={resource.noun} {...row} />}
        </>
      )}
    </Tag>
  )
})

/** Who has just changed a record. */
function By({ noun, id, version }: { noun: Noun; id: number; version: number }) {
  const actor = useActor(noun, id, version)
  return (
    actor !== undefined && (
      <span className="row by">
        <span className="dot live" /> <bdi translate="no">{actor}</bdi>
      </span>
    )
  )
}

/** Makes the Back button return to the row. */
export function remember({ id }: Row) {
  window.history.replaceState({ ...window.history.state, row: id }, '')
}
