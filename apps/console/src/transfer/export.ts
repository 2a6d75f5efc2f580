import { csvText } from '@resource/import'
import { calls } from '../resources/calls.ts'
import type { Resource, Row } from '../resources/resource.ts'
import { filtersOf, type View } from '../table/view.ts'
import { formatCount } from '../ui/format.ts'
import { notify } from '../ui/notices.ts'
import { download } from './download.ts'

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
  format: FileFormat,
  signal: AbortSignal,
  onProgress: (count: number) => void,
): Promise<number> {
  const input = { ...filtersOf(resource, view), ...(view.sort !== undefined && { sort: view.sort }), limit: PAGE }
  const rows: Row[] = []
  for await (const page of calls(resource.noun).pages(input, { signal })) {
    rows.push(...(page[resource.noun] as Row[]))
    onProgress(rows.length)
  }
  download(resource.noun, format, textOf(resource, format, rows))
  return rows.length
}

function textOf({ listed }: Resource, format: FileFormat, rows: Row[]): string {
  if (format === 'csv') {
    const cells = rows.map((row) => listed.map((field) => row[field]))
    return csvText([listed, ...cells], ',', '\r\n')
  }
  return rows
    .map((row) => `${JSON.stringify(Object.fromEntries(listed.map((field) => [field, row[field]])))}\n`)
    .join('')
}

/** Downloads records that the page has as a file. */
export function exportSelected(resource: Resource, rows: Row[], format: FileFormat): void {
  download(resource.noun, format, textOf(resource, format, rows))
  notify('done', `${formatCount(rows.length, resource)} exported`)
}
