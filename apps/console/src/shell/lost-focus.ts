/**
 * Keeps the focus on the page. If the focused element disappears, such as the button of a deleted record, the open
 * dialog or the main content gets the focus. Otherwise the next Tab would start at the top of the page.
 */
export function restoreLostFocus(): void {
  let last: Element | null = null
  document.addEventListener('focusin', ({ target }) => {
    last = target as Element
  })
  new MutationObserver(() => {
    if (last === null || last.isConnected || document.activeElement !== document.body) return
    last = null
    // Two frames later, so that a closing dialog can restore the focus first.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        if (document.activeElement !== document.body) return
        const dialog = document.querySelector<HTMLElement>('[role=dialog], [role=alertdialog]')
        ;(dialog ?? document.getElementById('main'))?.focus({ preventScroll: true })
      }),
    )
  }).observe(document.body, { childList: true, subtree: true })
}
