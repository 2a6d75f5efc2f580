import { csvText } from '@resource/import'
import { calls } from '../resources/calls.ts'
import type { Resource, Row } from '../resources/resource.ts'
import { filtersOf, type View } from '../table/view.ts'
import { errorMessage, formatCount } from '../ui/format.ts'
import { notify } from '../ui/notices.ts'
import { beginWork } from '../ui/work.ts'
import { download } from './download.ts'

export type FileFormat = 'csv' | 'ndjson'

const PAGE = 1000

/**
 * Downloads all records of the view, on all pages, as a file. It goes on when the page is left, and reports its end.
 *
 * @param total the number of matching records
 */
export async function exportRows(resource: Resource, view: View, format: FileFormat, total: number): Promise<void> {
  const { noun, many } = resource
  const stop = new AbortController()
  const work = beginWork({
    title: `Export of ${many}`,
    stop: () => stop.abort(),
    consequence: 'No file is saved.',
  })
  const input = { ...filtersOf(resource, view), ...(view.sort !== undefined && { sort: view.sort }), limit: PAGE }
  const rows: Row[] = []
  try {
    for await (const page of calls(noun).pages(input, { signal: stop.signal })) {
      rows.push(...(page[noun] as Row[]))
      // Others may have created records meanwhile.
      work.update(rows.length, Math.max(rows.length, total))
    }
    download(noun, format, textOf(resource, format, rows))
    notify('done', `${formatCount(rows.length, resource)} exported`)
  } catch (error) {
    if (!stop.signal.aborted) notify('failed', `The export failed. ${errorMessage(error)}`)
  }
  work.end()
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
