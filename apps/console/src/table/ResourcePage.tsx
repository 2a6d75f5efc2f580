import { useState } from 'react'
import type { Selection } from 'react-aria-components'
import { ConflictWindow } from '../conflict/ConflictWindow.tsx'
import { EditWindow, NewWindow } from '../form/RecordWindow.tsx'
import type { Resource, Row } from '../resources/resource.ts'
import { ImportWindow } from '../transfer/ImportWindow.tsx'
import { Failure } from '../ui/Failure.tsx'
import { deletion, useChanges } from './changes.ts'
import { DeleteWindow } from './DeleteWindow.tsx'
import { Empty } from './Empty.tsx'
import { Filters } from './Filters.tsx'
import { Pager } from './Pager.tsx'
import { RecordTable } from './RecordTable.tsx'
import { useRows } from './rows.ts'
import { SelectionBar } from './SelectionBar.tsx'
import { TitleBar } from './TitleBar.tsx'
import { filtersOf, useView } from './view.ts'

/** The page of any noun: its table, and everything that can be done to its records. */
export function ResourcePage({ resource }: { resource: Resource }) {
  const pages = useView(resource)
  const { view, open } = pages
  const { data, error, isFetching, isPlaceholderData, refetch } = useRows(resource, view)
  const changes = useChanges(resource)
  const [selection, setSelection] = useState<Selection>(new Set())
  const [doomed, setDoomed] = useState<Row[]>()
  const rows = data?.rows ?? []
  const selected = selection === 'all' ? rows : rows.filter(({ id }) => selection.has(id))
  const isFiltered = Object.keys(filtersOf(resource, view)).length > 0
  const close = () => open(undefined)

  return (
    <div className="page" aria-busy={isFetching}>
      <TitleBar resource={resource} view={view} total={data?.total} onOpen={open} />
      <Filters key={JSON.stringify(view)} resource={resource} view={view} onChange={pages.change} />
      <SelectionBar
        resource={resource}
        rows={selected}
        onAct={(action, acted) => {
          setSelection(new Set())
          void changes.act(action, acted)
        }}
        onDelete={setDoomed}
        onClear={() => setSelection(new Set())}
      />
      {error !== null && data === undefined && (
        <Failure title={`${resource.title} cannot be loaded`} error={error} onRetry={refetch} />
      )}
      {error !== null && data !== undefined && (
        <p role="alert" className="failed-line">
          What is shown may be out of date: the last reading failed.
        </p>
      )}
      {error === null && data === undefined && <Skeleton many={resource.many} />}
      {data !== undefined && rows.length === 0 && (
        <Empty resource={resource} isFiltered={isFiltered} isFirst={view.after === undefined} pages={pages} />
      )}
      {rows.length > 0 && (
        <RecordTable
          resource={resource}
          rows={rows}
          sort={view.sort}
          isStale={isPlaceholderData}
          selection={selection}
          onSelect={setSelection}
          onSort={(sort) => pages.change({ sort })}
          onOpen={open}
          onAct={(action, row) => changes.act(action, [row])}
          onDelete={(row) => setDoomed([row])}
        />
      )}
      {data !== undefined && <Pager view={view} next={data.next} pages={pages} />}

      {view.open === 'new' && <NewWindow resource={resource} onClose={close} />}
      {view.open === 'import' && <ImportWindow resource={resource} onClose={close} />}
      {typeof view.open === 'number' && <EditWindow resource={resource} id={view.open} onClose={close} />}
      {doomed !== undefined && (
        <DeleteWindow
          resource={resource}
          rows={doomed}
          onClose={() => setDoomed(undefined)}
          onDelete={() => {
            setDoomed(undefined)
            setSelection(new Set())
            void changes.act(deletion(resource), doomed)
          }}
        />
      )}
      {changes.conflict !== undefined && (
        <ConflictWindow
          resource={resource}
          conflict={changes.conflict}
          onKeep={changes.keepStored}
          onOverwrite={() => changes.conflict && void changes.overwrite(changes.conflict)}
        />
      )}
    </div>
  )
}

const LINES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

function Skeleton({ many }: { many: string }) {
  return (
    <div role="status" className="skeleton">
      <span className="hidden">Loading {many}…</span>
      {LINES.map((line) => (
        <div key={line} aria-hidden="true" />
      ))}
    </div>
  )
}
