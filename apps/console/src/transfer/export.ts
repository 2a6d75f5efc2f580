import { walkRows } from '../resources/calls.ts'
import type { Resource, Row } from '../resources/resource.ts'
import { filtersOf, type View } from '../table/view.ts'
import { download } from './download.ts'

export type ExportForm = 'csv' | 'ndjson'

const PAGE = 1000

/**
 * Every record of the view, on all its pages, as a file.
 *
 * @returns how many records it holds
 */
export async function exportRows(resource: Resource, view: View, form: ExportForm): Promise<number> {
  const { noun } = resource
  const write = form === 'csv' ? await csvWriter() : ndjson
  const input = { ...filtersOf(resource, view), ...(view.sort !== undefined && { sort: view.sort }), limit: PAGE }
  const parts: string[] = []
  let count = 0
  for await (const rows of walkRows(noun, input)) {
    parts.push(write(rows, count === 0))
    count += rows.length
  }
  download(`${noun}.${form}`, form === 'csv' ? 'text/csv' : 'application/x-ndjson', parts)
  return count
}

function ndjson(rows: Row[]): string {
  return rows.map((row) => `${JSON.stringify(publicOf(row))}\n`).join('')
}

async function csvWriter() {
  const { csvLines } = await import('./csv.ts')
  return (rows: Row[], isFirst: boolean) => {
    const fields = Object.keys(publicOf(rows[0] ?? {}))
    return (isFirst ? `${fields.join(',')}\r\n` : '') + (rows.length > 0 ? csvLines(fields, rows) : '')
  }
}

// The version belongs to this service's writes, not to the data.
function publicOf(row: Record<string, unknown>): Record<string, unknown> {
  const { version: _, ...fields } = row
  return fields
}
