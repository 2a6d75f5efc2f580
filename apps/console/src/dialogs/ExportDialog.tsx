import { useEffect, useRef, useState } from 'react'
import type { Resource } from '../resources/resource.ts'
import { useCount } from '../table/queries.ts'
import { describeFilters, filtersOf, type View } from '../table/view.ts'
import { exportRows, type FileFormat } from '../transfer/export.ts'
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
  onClose: () => void
}

/** Exports all records that match the filters, on all pages, to a file. */
export function ExportDialog({ resource, view, onClose }: Props) {
  const filters = filtersOf(resource, view)
  const query = useCount(resource, filters)
  const [count, setCount] = useState<number>()
  const stop = useRef<AbortController>(undefined)
  const isOpen = useIsMounted()
  useEffect(() => () => stop.current?.abort(), [])

  const run = async (form: FileFormat) => {
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
              <strong>{formatCount(total, resource)}</strong> on all pages{describeFilters(resource, filters)}, in the
              order shown. <span className="hint">CSV is for spreadsheets; NDJSON has one record per line.</span>
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
