import type { Resource, Row } from '../resources/resource.ts'
import { describeFilters } from '../table/conditions.ts'
import { useCount } from '../table/queries.ts'
import { filtersOf, type View } from '../table/view.ts'
import { exportRows, exportSelected, type FileFormat } from '../transfer/export.ts'
import { Button } from '../ui/Button.tsx'
import { formatCount } from '../ui/format.ts'
import { Loaded } from '../ui/Loaded.tsx'
import { ModalDialog } from '../ui/ModalDialog.tsx'

interface Props {
  resource: Resource
  view: View
  /** The records; undefined for all that match the filters. */
  rows?: Row[] | undefined
  onClose: () => void
}

/** Exports the selected records, or all that match the filters, on all pages, to a file. */
export function ExportDialog({ resource, view, rows, onClose }: Props) {
  const counted = useCount(resource, filtersOf(resource, view), rows === undefined)
  const query = rows === undefined ? counted : { ...counted, data: rows.length }
  const { data: total } = query
  const filters = describeFilters(resource, view)
  const run = (format: FileFormat) => {
    onClose()
    if (rows !== undefined) exportSelected(resource, rows, format)
    else if (total !== undefined) void exportRows(resource, view, format, total)
  }
  return (
    <ModalDialog title={`Export ${resource.many}`} onClose={onClose}>
      <Loaded query={query} title={`The ${resource.many} could not be counted`} waiting="Counting…">
        {(total) => (
          <p>
            <strong>{formatCount(total, resource)}</strong>
            {rows === undefined && ` on all pages${filters && ` where ${filters}`}, in the order shown`}.{' '}
            <span className="hint">CSV is for spreadsheets; NDJSON has one record per line.</span>
          </p>
        )}
      </Loaded>
      <footer>
        <Button onPress={onClose}>Cancel</Button>
        <Button isDisabled={total === undefined} onPress={() => run('ndjson')}>
          NDJSON
        </Button>
        <Button className="button primary" isDisabled={total === undefined} onPress={() => run('csv')}>
          CSV
        </Button>
      </footer>
    </ModalDialog>
  )
}
