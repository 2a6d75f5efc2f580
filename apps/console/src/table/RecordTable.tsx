import { Ellipsis } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useState } from 'react'
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
import { Panel } from '../ui/Popup.tsx'
import { usePreferences } from '../ui/preferences.ts'
import { useShortcut } from '../ui/shortcuts.ts'
import { By } from './By.tsx'
import { Cell, remember } from './Cell.tsx'
import { GRID_HINTS } from './GridHints.tsx'
import { useGrid } from './grid.ts'
import { useMarks } from './live.ts'
import { placesOf } from './places.ts'
import { RowMenu } from './RowMenu.tsx'
import type { Selection } from './selection.ts'
import { TableHead } from './TableHead.tsx'
import { hideWhole, showWhole } from './whole-text.ts'

// The name takes the space that is left. Of the others, only texts may be narrower than their content.
const NAME_TRACK = 'minmax(9rem, 1fr)'
/** Those that shrink: with large text a time is cut off rather than beyond the page. Others are as wide as their values. */
const TRACKS: { [K in ColumnKind]?: string } = { text: 'fit-content(22rem)', time: 'minmax(5rem, max-content)' }

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
  /** Opens the form of a record. */
  onOpen: (id: number) => void
}

interface Editing {
  id: number
  field: string
  /** The widths of the columns as the edit began, so that no column moves while it lasts. */
  tracks: string
}

/**
 * The rows as a grid: arrow keys move between cells, Enter opens a record, F2 or a double click edits a cell, Space
 * selects a row. Shift-click on a checkbox selects a range.
 */
export function RecordTable(props: Props) {
  const { resource, columns, rows, sort = 'id_asc', isStale, isPending, can, isProposing } = props
  const { selection, onSort, onAct, onEdit } = props
  const [editing, setEditing] = useState<Editing>()
  const [menuRow, setMenuRow] = useState<Row>()
  const [path, navigate] = useLocation()
  const density = usePreferences((preferences) => preferences.density)
  const menuId = useId()
  const markOf = useMarks(resource.noun)
  const grid = useGrid(useHistoryState<{ row?: number } | null>()?.row)
  const allowed = resource.actions.filter(({ verb }) => can(verb))
  const canEdit = can(editVerb(resource.noun))
  // Without any allowed action, a selection has no use.
  const canSelect = canEdit || can('delete') || allowed.length > 0 || isProposing
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
  const places = placesOf(resource, columns)
  const tracks = [
    ...(canSelect ? ['max-content'] : []),
    ...columns.map(({ field, kind }) => (field === resource.nameField ? NAME_TRACK : (TRACKS[kind] ?? 'max-content'))),
    'max-content',
  ]

  useEffect(() => {
    if (!editing?.tracks) return
    // The widths belong to the old size of the window.
    const forget = () => setEditing((now) => now && { ...now, tracks: '' })
    window.addEventListener('resize', forget)
    return () => window.removeEventListener('resize', forget)
  }, [editing?.tracks])

  useShortcut('x', () => {
    const id = Number(document.activeElement?.closest('tr')?.dataset.id)
    if (canSelect && id > 0) selection.toggle(id, false)
  })

  const start = (row: Row, field: string) => {
    const style = grid.ref.current && getComputedStyle(grid.ref.current)
    setEditing({ id: row.id, field, tracks: style?.display === 'grid' ? style.gridTemplateColumns : '' })
  }

  return (
    <>
      <table
        ref={grid.ref}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table that takes the focus is a grid
        role="grid"
        aria-label={resource.title}
        aria-describedby={GRID_HINTS}
        aria-multiselectable={canSelect}
        className={`records ${density}${isStale ? ' stale' : ''}`}
        style={{ gridTemplateColumns: editing?.tracks || tracks.join(' ') }}
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
        <TableHead columns={columns} sort={sort} selection={canSelect ? selection : undefined} onSort={onSort} />
        <tbody>
          {rows.map((row) => {
            const name = nameOf(resource, row)
            const isSelected = selection.has(row.id)
            const href = `${path}/${row.id}`
            const mark = markOf(row.id)
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
                className={[isSelected ? 'selected' : '', mark?.kind].filter(Boolean).join(' ')}
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
                    place={places.get(column.field) ?? 'extra'}
                    isFresh={mark?.fields.includes(column.field) ?? false}
                    href={column.field === resource.nameField ? href : undefined}
                    note={
                      column.field === resource.nameField &&
                      mark?.kind === 'changed' && <By noun={resource.noun} {...row} />
                    }
                    decimals={decimals.get(column.field) ?? 0}
                    editField={canEdit ? editFields.get(column.field) : undefined}
                    isEditing={editing?.id === row.id && editing.field === column.field}
                    onKeyDown={onKeyDown}
                    onStart={() => start(row, column.field)}
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
                <td className="actions">
                  <span className="direct">
                    {allowed
                      .filter(({ isFor }) => isFor(row))
                      .map((action, index) => (
                        <Button
                          // The index as key keeps the focus when Deactivate becomes Activate.
                          key={index}
                          className="button small"
                          tabIndex={-1}
                          isDisabled={isPending(row.id, action.verb)}
                          onPress={() => onAct(action, row)}
                          aria-label={`${action.label} ${name}`}
                        >
                          {action.label}
                        </Button>
                      ))}
                  </span>
                  <Button
                    className="button ghost icon small more"
                    tabIndex={-1}
                    popoverTarget={menuId}
                    aria-label={`Actions for ${name}`}
                    onPress={() => setMenuRow(row)}
                  >
                    <Ellipsis className="i" aria-hidden="true" />
                  </Button>
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
      <Panel id={menuId}>
        {(close) =>
          menuRow !== undefined && (
            <RowMenu
              resource={resource}
              row={menuRow}
              href={`${path}/${menuRow.id}`}
              can={can}
              actions={allowed.filter(({ isFor }) => isFor(menuRow))}
              onAct={onAct}
              onEdit={props.onOpen}
              onClose={close}
            />
          )
        }
      </Panel>
    </>
  )
}
