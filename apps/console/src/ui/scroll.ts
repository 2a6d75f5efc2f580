/** Scrolls the page to its top. The console scrolls inside the window, above the notices. */
export function scrollToTop(): void {
  document.getElementById('console')?.scrollTo(0, 0)
}
