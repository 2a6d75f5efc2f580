import { lazy, useEffect, useId, useMemo, useRef, useState } from 'react'
import { useLocation, useRouter } from 'wouter'
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
import { sentence } from '../ui/format.ts'
import { notify } from '../ui/notices.ts'
import { Panel } from '../ui/Popup.tsx'
import { usePreferences } from '../ui/preferences.ts'
import { useShortcut } from '../ui/shortcuts.ts'
import { useShownState } from '../ui/shown-location.tsx'
import { type CellLayout, type RowActs, remember } from './Cell.tsx'
import { GRID_HINTS } from './GridHints.tsx'
import { useGrid } from './grid.ts'
import { useMarks } from './live.ts'
import { placesOf } from './places.ts'
import { RecordRow } from './RecordRow.tsx'
import { useSame } from './same.ts'
import type { Selection } from './selection.ts'
import { TableHead } from './TableHead.tsx'
import { loadPanels } from './Toolbar.tsx'
import { hideWhole, showWhole } from './whole-text.ts'

const RowMenu = lazy(() => loadPanels().then(({ RowMenu }) => ({ default: RowMenu })))

// The space that is left: the name has most of it, and of the others each that is at least as wide as its values. Only texts
// and names are narrower. The tracks of both depend on the width of the page.
const NAME_TRACK = 'var(--name-track)'
const ROOMY_TRACK = 'minmax(max-content, 1fr)'
/** With large text a time is cut off rather than beyond the page. */
const TRACKS: { [K in ColumnKind]?: string } = {
  id: 'max-content',
  text: 'var(--text-track)',
  time: 'minmax(5rem, max-content)',
}

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
  const { resource, rows, sort = 'id_asc', isStale, isPending, can, isProposing } = props
  const { selection, onSort, onAct, onEdit } = props
  const [editing, setEditing] = useState<Editing>()
  const [menuRow, setMenuRow] = useState<Row>()
  const [path, navigate] = useLocation()
  const { base } = useRouter()
  const density = usePreferences((preferences) => preferences.density)
  const menuId = useId()
  const markOf = useMarks(resource.noun)
  const grid = useGrid(useShownState<{ row?: number } | null>()?.row)
  const allowed = useSame(resource.actions.filter(({ verb }) => can(verb)))
  const canEdit = can(editVerb(resource.noun))
  // Without any allowed action, a selection has no use.
  const canSelect = canEdit || can('delete') || allowed.length > 0 || isProposing
  const columns = useSame(props.columns)
  const decimals = useSame(
    columns.map(({ field, kind, decimals }) =>
      kind === 'number'
        ? decimalsOf(
            rows.map((row) => row[field]),
            decimals,
          )
        : 0,
    ),
  )
  const layout = useMemo(() => {
    const places = placesOf(resource, columns)
    return columns.map((column, index): CellLayout => {
      const { field } = column
      const editField = canEdit ? resource.editFields.find(({ name }) => name === field) : undefined
      return { column, place: places.get(field) ?? 'extra', decimals: decimals[index] ?? 0, editField }
    })
  }, [resource, columns, decimals, canEdit])
  const tracks = [
    ...(canSelect ? ['max-content'] : []),
    ...columns.map(({ field, kind }) => (field === resource.nameField ? NAME_TRACK : (TRACKS[kind] ?? ROOMY_TRACK))),
    // The last value is next to the row's menu.
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

  const latest: RowActs = {
    toggle: selection.toggle,
    act: onAct,
    showMenu: setMenuRow,
    open: (event, row) => {
      // The browser opens another tab or window.
      if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
      event.preventDefault()
      remember(row)
      navigate(`${path}/${row.id}`, { state: { from: window.location.search } })
    },
    press: (event, row) => {
      // A cell with a link, button or checkbox leaves these keys to it.
      if (event.target !== event.currentTarget) return
      if (event.key === 'Enter') return latest.open(event, row)
      if (event.key !== ' ' || !canSelect) return
      selection.toggle(row.id, false)
      event.preventDefault()
    },
    edit: ({ id }, field) => {
      const style = grid.ref.current && getComputedStyle(grid.ref.current)
      setEditing({ id, field, tracks: style?.display === 'grid' ? style.gridTemplateColumns : '' })
    },
    save: (seen, field, value) => {
      setEditing(undefined)
      onEdit(seen, field, value)
    },
    cancel: (row, error) => {
      setEditing(undefined)
      if (error !== undefined) notify('failed', `${nameOf(resource, row)} was not saved. ${sentence(error)}`)
    },
  }
  const acts = useRef(latest)
  acts.current = latest

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
          {rows.map((row) => (
            <RecordRow
              key={row.id}
              resource={resource}
              layout={layout}
              row={row}
              href={`${base}${path}/${row.id}`}
              mark={markOf(row.id)}
              canSelect={canSelect}
              isSelected={selection.has(row.id)}
              edited={editing?.id === row.id ? editing.field : undefined}
              actions={allowed}
              pending={String(allowed.flatMap(({ verb }) => (isPending(row.id, verb) ? verb : [])))}
              menuId={menuId}
              acts={acts}
            />
          ))}
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
