import { csvText } from '@resource/import'
import { calls } from '../resources/calls.ts'
import type { Resource, Row } from '../resources/resource.ts'
import { filtersOf, type View } from '../table/view.ts'
import { BYTE_ORDER_MARK, download } from './download.ts'

export type FileFormat = 'csv' | 'ndjson'

const PAGE = 1000

/**
 * Downloads all records of the view, on all pages, as a file.
 *
 * @param onProgress called after each page with the number of records so far
 * @returns number of records
 */
export async function exportRows(
  resource: Resource,
  view: View,
  form: FileFormat,
  signal: AbortSignal,
  onProgress: (count: number) => void,
): Promise<number> {
  const input = { ...filtersOf(resource, view), ...(view.sort !== undefined && { sort: view.sort }), limit: PAGE }
  const rows: Row[] = []
  for await (const page of calls(resource.noun).pages(input, { signal })) {
    rows.push(...(page[resource.noun] as Row[]))
    onProgress(rows.length)
  }
  save(resource, form, rows)
  return rows.length
}

function save({ noun, listed }: Resource, form: FileFormat, rows: Row[]): void {
  const cells = rows.map((row) => listed.map((field) => row[field]))
  const picked = (row: Row) => Object.fromEntries(listed.map((field) => [field, row[field]]))
  if (form === 'csv') {
    download(`${noun}.csv`, 'text/csv', BYTE_ORDER_MARK + csvText([listed, ...cells], ',', '\r\n'))
  } else {
    const lines = rows.map((row) => `${JSON.stringify(picked(row))}\n`)
    download(`${noun}.ndjson`, 'application/x-ndjson', lines.join(''))
  }
}
