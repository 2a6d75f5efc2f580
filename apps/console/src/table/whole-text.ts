import type { SyntheticEvent } from 'react'

/** Shows the whole of a text that its cell truncates, below the pointer or the focus. */
export function showWhole({ target }: SyntheticEvent) {
  const cell = (target as Element).closest<HTMLElement>('td, th')
  const text = cell?.querySelector('bdi')
  if (cell && text && text.scrollWidth > text.clientWidth) cell.dataset.whole = text.textContent
}

export function hideWhole({ target }: SyntheticEvent) {
  delete (target as Element).closest<HTMLElement>('td, th')?.dataset.whole
}
