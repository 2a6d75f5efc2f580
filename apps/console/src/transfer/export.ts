import { calls } from '../resources/calls.ts'
import type { Resource, Row } from '../resources/resource.ts'
import { filtersOf, type View } from '../table/view.ts'
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
  await saveRows(resource.noun, form, resource.listed, rows)
  return rows.length
}

/** Downloads a file with these fields of the records. */
export async function saveRows(
  name: string,
  form: FileFormat,
  fields: string[],
  rows: Record<string, unknown>[],
  separator?: string,
): Promise<void> {
  if (form === 'ndjson') return download(`${name}.ndjson`, 'application/x-ndjson', jsonLines(fields, rows))
  const { csvOf } = await import('./csv.ts')
  download(`${name}.csv`, 'text/csv', csvOf(fields, rows, separator))
}

function jsonLines(fields: string[], rows: Record<string, unknown>[]): string {
  const picked = (row: Record<string, unknown>) =>
    Object.fromEntries(fields.filter((field) => field in row).map((field) => [field, row[field]]))
  return rows.map((row) => `${JSON.stringify(picked(row))}\n`).join('')
}
