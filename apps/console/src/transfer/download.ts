import type { Format } from '@resource/import'

/** Without it, spreadsheets read the file in the local legacy encoding instead of UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF'

/** Starts the download of rows in the browser, as CSV or NDJSON. */
export function download(noun: string, format: Format, text: string): void {
  const isCsv = format === 'csv'
  const type = isCsv ? 'text/csv' : 'application/x-ndjson'
  const url = URL.createObjectURL(new Blob([isCsv ? BYTE_ORDER_MARK + text : text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${noun}.${isCsv ? 'csv' : 'ndjson'}`
  link.click()
  // By then the browser has started the download.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
