/**
 * Keeps the keyboard on the page. When the element that has it disappears, such as the button of a record that was
 * deleted, the open window gets it, or else the main part: the next Tab would otherwise begin at the top.
 */
export function holdFocus(): void {
  let last: Element | null = null
  document.addEventListener('focusin', ({ target }) => {
    last = target as Element
  })
  new MutationObserver(() => {
    if (last === null || last.isConnected || document.activeElement !== document.body) return
    last = null
    // After those who know a better place for it, as a window that closes does.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        if (document.activeElement !== document.body) return
        const place = document.querySelector<HTMLElement>('[role=dialog], [role=alertdialog]')
        ;(place ?? document.getElementById('main'))?.focus({ preventScroll: true })
      }),
    )
  }).observe(document.body, { childList: true, subtree: true })
}
