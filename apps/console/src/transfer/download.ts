/** Without it, spreadsheets read the file in the local legacy encoding instead of UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF'

/** Starts the download of a file in the browser. */
export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // By then the browser has started the download.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
