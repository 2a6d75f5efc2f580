import { type FocusEvent, type KeyboardEvent, useEffectEvent, useLayoutEffect, useRef } from 'react'
import { useShortcut } from '../ui/shortcuts.ts'

const PAGE_ROWS = 10

/**
 * Keyboard navigation of a table as a grid: Tab enters and leaves it as one stop, and arrow keys move between its cells
 * (roving tabindex). The cells and the elements in them need `tabIndex={-1}`.
 *
 * @param visited the `data-id` of the row whose page the user comes from; it gets the focus
 */
export function useGrid(visited: number | undefined) {
  const grid = useRef<HTMLTableElement>(null)
  const stop = useRef<HTMLElement>(undefined)

  const setStop = (next: HTMLElement | undefined) => {
    if (stop.current !== undefined) stop.current.tabIndex = -1
    if (next !== undefined) next.tabIndex = 0
    stop.current = next
  }

  const focusVisited = useEffectEvent(() => {
    const isUnused = document.activeElement === document.body || document.activeElement?.id === 'main'
    if (isUnused) grid.current?.querySelector<HTMLElement>(`[data-id="${visited}"] a`)?.focus()
  })
  useLayoutEffect(() => focusVisited(), [])

  // The cell of the tab stop may have left the table.
  useLayoutEffect(() => {
    const table = grid.current
    if (table === null || (stop.current !== undefined && table.contains(stop.current))) return
    setStop(targetsOf(table.tBodies[0]?.rows[0] ?? table.rows[0])[0])
  })

  const onKeyDown = (event: KeyboardEvent) => {
    const table = grid.current
    const from = event.target as HTMLElement
    const row = from.closest('tr')
    if (table === null || row === null || event.altKey || event.shiftKey || isTextInput(from)) return
    if (moveTo(nextTarget(event, from, row, [...table.rows]))) event.preventDefault()
  }

  /** Moves to another row, first to a name in the table, which F2 edits. */
  const step = (key: string) => {
    const from = document.activeElement as HTMLElement
    const row = from.closest('tr')
    const isInside = row !== null && grid.current?.contains(row) === true
    const name = stop.current?.closest('tbody tr')?.querySelector('a')
    moveTo(isInside ? nextTarget({ key }, from, row, [...(grid.current?.rows ?? [])]) : (name ?? stop.current))
  }
  useShortcut('j', () => step('ArrowDown'))
  useShortcut('k', () => step('ArrowUp'))

  return {
    ref: grid,
    onKeyDown,
    onFocus: (event: FocusEvent) => setStop(event.target as HTMLElement),
  }
}

function moveTo(target: HTMLElement | undefined): boolean {
  target?.focus()
  target?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  return target !== undefined
}

function nextTarget(
  { key, ctrlKey, metaKey }: Pick<KeyboardEvent, 'key'> & Partial<KeyboardEvent>,
  from: HTMLElement,
  row: HTMLTableRowElement,
  rows: HTMLTableRowElement[],
): HTMLElement | undefined {
  const targets = targetsOf(row)
  const position = targets.indexOf(from)
  const inRow = (index: number) => {
    const cells = targetsOf(rows.at(Math.min(rows.length - 1, Math.max(0, index))))
    const cell = from.closest<HTMLTableCellElement>('td, th')?.cellIndex
    return cells.find((target) => target.closest<HTMLTableCellElement>('td, th')?.cellIndex === cell) ?? cells[0]
  }
  const isFar = ctrlKey || metaKey
  const index = rows.indexOf(row)
  if (key === 'ArrowRight') return targets[position + 1]
  if (key === 'ArrowLeft') return targets[position - 1]
  if (key === 'ArrowDown') return inRow(index + 1)
  if (key === 'ArrowUp') return inRow(index - 1)
  if (key === 'PageDown') return inRow(index + PAGE_ROWS)
  if (key === 'PageUp') return inRow(index - PAGE_ROWS)
  if (key === 'Home') return isFar ? targetsOf(rows[0])[0] : targets[0]
  if (key === 'End') return isFar ? targetsOf(rows.at(-1)).at(-1) : targets.at(-1)
  return undefined
}

/** What takes the focus in a row: the links, buttons and checkboxes in its cells, and cells without any. */
function targetsOf(row: HTMLTableRowElement | undefined): HTMLElement[] {
  return [...(row?.cells ?? [])].flatMap((cell) => {
    if (!cell.checkVisibility()) return []
    const inner = [...cell.querySelectorAll<HTMLElement>('a, button, input')].filter((inner) => inner.checkVisibility())
    return inner.length > 0 ? inner : [cell]
  })
}

function isTextInput(element: HTMLElement): boolean {
  return element.matches('input:not([type=checkbox]), select')
}
