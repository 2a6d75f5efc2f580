import { type KeyboardEvent, useId, useState } from 'react'
import { useLocation } from 'wouter'
import { useHistoryState } from 'wouter/use-browser-location'
import {
  type Action,
  type Column,
  type ColumnKind,
  editVerb,
  nameOf,
  type Resource,
  type Row,
} from '../resources/resource.ts'
import { decimalsOf } from '../resources/value-text.ts'
import { Button } from '../ui/Button.tsx'
import { sentence } from '../ui/format.ts'
import { notify } from '../ui/notices.ts'
import { usePreferences } from '../ui/preferences.ts'
import { Cell, remember } from './Cell.tsx'
import { useGrid } from './grid.ts'
import { useMarks } from './live.ts'
import type { Selection } from './selection.ts'
import { hideWhole, showWhole } from './whole-text.ts'

// Only texts may be narrower than their content; other columns share the space that is left.
const TRACKS: { [K in ColumnKind]?: string } = { id: 'max-content', text: 'minmax(4rem, auto)' }

interface Props {
  resource: Resource
  columns: Column[]
  rows: Row[]
  sort: string | undefined
  /** Whether the rows belong to the previous view. */
  isStale: boolean
  /** Whether an action on a record waits for its answer. */
  isPending: (id: number, verb: string) => boolean
  /** Whether the role allows a procedure. */
  can: (verb: string) => boolean
  isProposing: boolean
  selection: Selection
  onSort: (sort: string) => void
  onAct: (action: Action, row: Row) => void
  onEdit: (row: Row, field: string, value: unknown) => void
}

/**
 * The rows as a grid: arrow keys move between cells, Enter opens a record, F2 or a double click edits a cell, Space
 * selects a row. Shift-click on a checkbox selects a range.
 */
export function RecordTable(props: Props) {
  const { resource, columns, rows, sort = 'id_asc', isStale, isPending, can, isProposing } = props
  const { selection, onSort, onAct, onEdit } = props
  const [editing, setEditing] = useState<{ id: number; field: string }>()
  const [path, navigate] = useLocation()
  const density = usePreferences((preferences) => preferences.density)
  const hintId = useId()
  const markOf = useMarks(resource.noun)
  const grid = useGrid(useHistoryState<{ row?: number } | null>()?.row)
  const actions = resource.actions.filter(({ verb }) => can(verb))
  const canEdit = can(editVerb(resource.noun))
  // Without any allowed action, a selection has no use.
  const canSelect = canEdit || can('delete') || actions.length > 0 || isProposing
  const decimals = new Map(
    columns.map(({ field, decimals }) => [
      field,
      decimalsOf(
        rows.map((row) => row[field]),
        decimals,
      ),
    ]),
  )
  const editFields = new Map(resource.editFields.map((field) => [field.name, field]))
  const tracks = [
    ...(canSelect ? ['max-content'] : []),
    ...columns.map(({ kind }) => TRACKS[kind] ?? 'minmax(max-content, auto)'),
    ...(actions.length > 0 ? ['max-content'] : []),
  ]
  return (
    <>
      <table
        ref={grid.ref}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table that takes the focus is a grid
        role="grid"
        aria-label={resource.title}
        aria-describedby={hintId}
        aria-multiselectable={canSelect}
        className={`records ${density}${isStale ? ' stale' : ''}`}
        style={{ gridTemplateColumns: tracks.join(' ') }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') hideWhole(event)
          grid.onKeyDown(event)
        }}
        onFocus={(event) => {
          grid.onFocus(event)
          showWhole(event)
        }}
        onMouseOver={showWhole}
        onBlur={hideWhole}
        onMouseOut={hideWhole}
      >
        <thead>
          <tr>
            {canSelect && (
              <th scope="col" className="pick">
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
            {columns.map(({ field, label, kind, isSortable }) => (
              <th key={field} scope="col" className={kind} aria-sort={ariaSort(field, sort)} tabIndex={-1}>
                {isSortable ? (
                  <Button
                    className="sort"
                    tabIndex={-1}
                    onPress={() => onSort(sort === `${field}_asc` ? `${field}_desc` : `${field}_asc`)}
                  >
                    {label}
                  </Button>
                ) : (
                  label
                )}
              </th>
            ))}
            {actions.length > 0 && (
              <th scope="col" className="actions" tabIndex={-1}>
                Actions
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const name = nameOf(resource, row)
            const isSelected = selection.has(row.id)
            const href = `${path}/${row.id}`
            const onKeyDown = (event: KeyboardEvent) => {
              // A cell with a link, button or checkbox leaves these keys to it.
              if (event.target !== event.currentTarget) return
              if (event.key === 'Enter') {
                remember(row)
                navigate(href, { state: { from: window.location.search } })
              } else if (event.key === ' ' && canSelect) selection.toggle(row.id, false)
              else return
              event.preventDefault()
            }
            return (
              <tr
                key={row.id}
                data-id={row.id}
                className={[isSelected ? 'selected' : '', markOf(row.id)].filter(Boolean).join(' ')}
                aria-selected={canSelect ? isSelected : undefined}
              >
                {canSelect && (
                  <td className="pick">
                    <input
                      type="checkbox"
                      tabIndex={-1}
                      aria-label={`Select ${name}`}
                      checked={isSelected}
                      onChange={({ nativeEvent }) => selection.toggle(row.id, (nativeEvent as MouseEvent).shiftKey)}
                    />
                  </td>
                )}
                {columns.map((column) => (
                  <Cell
                    key={column.field}
                    resource={resource}
                    column={column}
                    row={row}
                    name={name}
                    href={column.field === resource.nameField ? href : undefined}
                    decimals={decimals.get(column.field) ?? 0}
                    editField={canEdit ? editFields.get(column.field) : undefined}
                    isEditing={editing?.id === row.id && editing.field === column.field}
                    onKeyDown={onKeyDown}
                    onStart={() => setEditing({ id: row.id, field: column.field })}
                    onSave={(seen, value) => {
                      setEditing(undefined)
                      onEdit(seen, column.field, value)
                    }}
                    onCancel={(error) => {
                      setEditing(undefined)
                      if (error !== undefined) notify('failed', `${name} was not saved. ${sentence(error)}`)
                    }}
                  />
                ))}
                {actions.length > 0 && (
                  <td className="actions">
                    {actions
                      .filter(({ isFor }) => isFor(row))
                      .map((action, index) => (
                        <Button
                          // The index as key keeps the focus when Deactivate becomes Activate.
                          key={index}
                          className="small"
                          tabIndex={-1}
                          isDisabled={isPending(row.id, action.verb)}
                          onPress={() => onAct(action, row)}
                          aria-label={`${action.label} ${name}`}
                        >
                          {action.label}
                        </Button>
                      ))}
                  </td>
                )}
              </tr>
            )
          })}
        </tbody>
      </table>
      <p id={hintId} className="hint grid-hint">
        Arrow keys move between cells, Enter opens a record
        {canEdit && ', F2 or a double click edits a cell'}, ? lists all shortcuts.
      </p>
    </>
  )
}

function ariaSort(field: string, sort: string): 'ascending' | 'descending' | undefined {
  if (sort === `${field}_asc`) return 'ascending'
  return sort === `${field}_desc` ? 'descending' : undefined
}
