import { useEffect, useRef, useState } from 'react'
import type { Resource, Row } from '../resources/resource.ts'
import { describeFilters } from '../table/conditions.ts'
import { useCount } from '../table/queries.ts'
import { filtersOf, type View } from '../table/view.ts'
import { exportRows, exportSelected, type FileFormat } from '../transfer/export.ts'
import { Button } from '../ui/Button.tsx'
import { errorMessage, formatCount } from '../ui/format.ts'
import { Loaded } from '../ui/Loaded.tsx'
import { ModalDialog } from '../ui/ModalDialog.tsx'
import { useIsMounted } from '../ui/mounted.ts'
import { notify } from '../ui/notices.ts'
import { Progress } from '../ui/Progress.tsx'

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
  const filters = describeFilters(resource, view)
  const [count, setCount] = useState<number>()
  const stop = useRef<AbortController>(undefined)
  const isOpen = useIsMounted()
  useEffect(() => () => stop.current?.abort(), [])

  const run = async (form: FileFormat) => {
    if (rows !== undefined) {
      exportSelected(resource, rows, form)
      return onClose()
    }
    stop.current = new AbortController()
    const { signal } = stop.current
    setCount(0)
    try {
      const exported = await exportRows(resource, view, form, signal, setCount)
      notify('done', `${formatCount(exported, resource)} exported`)
      if (isOpen.current) onClose()
    } catch (error) {
      if (!signal.aborted) notify('failed', `The export failed. ${errorMessage(error)}`)
      setCount(undefined)
    }
  }

  return (
    <ModalDialog title={`Export ${resource.many}`} onClose={onClose}>
      <Loaded query={query} title={`The ${resource.many} could not be counted`} waiting="Counting…">
        {(total) =>
          count !== undefined ? (
            <Progress label="Exporting" value={count} total={total} />
          ) : (
            <p>
              <strong>{formatCount(total, resource)}</strong>
              {rows === undefined && ` on all pages${filters && ` where ${filters}`}, in the order shown`}.{' '}
              <span className="hint">CSV is for spreadsheets; NDJSON has one record per line.</span>
            </p>
          )
        }
      </Loaded>
      <footer>
        <Button onPress={onClose}>Cancel</Button>
        <Button isDisabled={count !== undefined} onPress={() => void run('ndjson')}>
          NDJSON
        </Button>
        <Button className="button primary" isDisabled={count !== undefined} onPress={() => void run('csv')}>
          CSV
        </Button>
      </footer>
    </ModalDialog>
  )
}
