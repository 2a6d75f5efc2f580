import { InvalidInputError } from '@resource/client'
import { lazy, Suspense, useEffect, useState } from 'react'
import { editVerb, type Resource, type Row } from './resources/resource.ts'
import { useChanges } from './table/changes.ts'
import { Empty, NothingFollows } from './table/Empty.tsx'
import { Filters } from './table/Filters.tsx'
import { useLimits } from './table/limits.ts'
import { Pager } from './table/Pager.tsx'
import { useEarly } from './table/pending.ts'
import { RecordTable } from './table/RecordTable.tsx'
import { useRows } from './table/rows.ts'
import { SelectionBar } from './table/SelectionBar.tsx'
import { useSelection } from './table/selection.ts'
import { TitleBar } from './table/TitleBar.tsx'
import { listInputOf, type Open, useView } from './table/view.ts'
import { Loaded } from './ui/Loaded.tsx'
import { useTitle } from './ui/title.ts'

// What lies over the table is read after it, so that the table is there soon.
const loadWindows = () => import('./windows/Windows.tsx')
const Windows = lazy(loadWindows)

/** The page of any noun: its table, and everything that can be done to its records. */
export function ResourcePage({ resource }: { resource: Resource }) {
  const pages = useView(resource)
  const limits = useLimits(resource)
  const { view, open } = pages
  const opened = view.open !== undefined && limits.may(verbOf(resource, view.open)) ? view.open : undefined
  const query = useRows(resource, view)
  const { data, error, isFetching, isPlaceholderData } = query
  const changes = useChanges(resource)
  const { shown, awaiting } = useEarly(resource.noun, data?.rows ?? [])
  const selection = useSelection(shown, JSON.stringify(listInputOf(resource, view)))
  const [doomed, setDoomed] = useState<Row[]>()
  const isRead = data !== undefined
  const isLost = view.after !== undefined && error instanceof InvalidInputError
  useTitle(resource.title)

  useEffect(() => {
    // One that cannot be had now is asked for again when it is needed.
    if (isRead) loadWindows().catch(() => {})
  }, [isRead])

  return (
    <div className="page" aria-busy={isFetching}>
      <TitleBar resource={resource} total={data?.total} limits={limits} onOpen={open} />
      <Filters resource={resource} view={view} onChange={pages.change} />
      {error !== null && isRead && (
        <p role="alert" className="failed-line">
          What is shown may be out of date: the last reading failed.
        </p>
      )}
      {!isRead && isLost ? (
        <NothingFollows resource={resource} onFirst={pages.first} />
      ) : (
        <Loaded query={query} title={`${resource.title} cannot be loaded`} waiting={<Skeleton many={resource.many} />}>
          {({ rows }) =>
            rows.length === 0 ? (
              <Empty resource={resource} pages={pages} mayCreate={limits.may('create')} />
            ) : (
              <RecordTable
                resource={resource}
                rows={shown}
                sort={view.sort}
                isStale={isPlaceholderData}
                awaiting={awaiting}
                may={limits.may}
                selection={selection}
                onSort={(sort) => pages.change({ sort })}
                onOpen={open}
                onAct={(action, row) => changes.act(action, [row])}
                onDelete={(row) => setDoomed([row])}
              />
            )
          }
        </Loaded>
      )}
      <SelectionBar
        resource={resource}
        rows={selection.rows}
        onAct={(action, rows) => {
          selection.clear()
          void changes.act(action, rows)
        }}
        onDelete={setDoomed}
        onClear={selection.clear}
      />
      {isRead && (shown.length > 0 || view.after !== undefined) && (
        <Pager view={view} next={isPlaceholderData ? null : data.next} pages={pages} />
      )}
      {(opened ?? doomed ?? changes.conflict) !== undefined && (
        <Suspense>
          <Windows
            resource={resource}
            view={view}
            open={opened}
            doomed={doomed}
            changes={changes}
            onClose={pages.close}
            onDoomed={() => {
              setDoomed(undefined)
              selection.clear()
            }}
            onSpared={() => setDoomed(undefined)}
          />
        </Suspense>
      )}
    </div>
  )
}

/** What the procedure is called that a window leads to. */
function verbOf({ noun, purge }: Resource, open: Open): string {
  if (typeof open === 'number') return editVerb(noun)
  const verbs = { new: 'create', import: 'createMany', export: 'list', purge: purge?.verb ?? 'list' }
  return verbs[open]
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
