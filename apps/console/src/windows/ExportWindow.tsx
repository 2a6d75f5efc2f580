import { useEffect, useRef, useState } from 'react'
import type { Resource } from '../resources/resource.ts'
import { useCount } from '../table/rows.ts'
import { filtersOf, type View } from '../table/view.ts'
import { exportRows, type FileForm } from '../transfer/export.ts'
import { Button } from '../ui/Button.tsx'
import { Loaded } from '../ui/Loaded.tsx'
import { notify } from '../ui/notices.ts'
import { Progress } from '../ui/Progress.tsx'
import { Window } from '../ui/Window.tsx'
import { counted, wordsOf } from '../ui/words.ts'

interface Props {
  resource: Resource
  view: View
  onClose: () => void
}

/** Writes what the filters let through, on all pages, into a file. */
export function ExportWindow({ resource, view, onClose }: Props) {
  const filters = filtersOf(resource, view)
  const query = useCount(resource, filters)
  const [count, setCount] = useState<number>()
  const stop = useRef<AbortController>(undefined)
  useEffect(() => () => stop.current?.abort(), [])

  const run = async (form: FileForm) => {
    stop.current = new AbortController()
    const { signal } = stop.current
    setCount(0)
    try {
      const exported = await exportRows(resource, view, form, signal, setCount)
      notify('done', `${counted(exported, resource)} exported`)
      onClose()
    } catch (error) {
      if (!signal.aborted) notify('failed', `The export failed. ${wordsOf(error)}`)
      setCount(undefined)
    }
  }

  return (
    <Window title={`Export ${resource.many}`} onClose={onClose}>
      <Loaded query={query} title="They could not be counted" waiting={<p role="status">Counting…</p>}>
        {(total) =>
          count !== undefined ? (
            <Progress label="Exporting" value={count} total={total} />
          ) : (
            <p>
              <strong>{counted(total, resource)}</strong> on all pages{describe(resource, filters)}, in the order shown.{' '}
              <span className="hint">CSV is for spreadsheets; NDJSON has one record a line.</span>
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
    </Window>
  )
}

function describe(resource: Resource, filters: Record<string, unknown>): string {
  const said = resource.filters.flatMap(({ name, label }) =>
    filters[name] === undefined ? [] : [`${label.toLowerCase()} ${filters[name]}`],
  )
  return said.length === 0 ? '' : ` with ${said.join(', ')}`
}
