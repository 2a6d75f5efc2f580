import { InvalidInputError } from '@resource/client'
import { lazy, Suspense, useEffect, useState } from 'react'
import { type Action, editVerb, type Resource, type Row } from './resources/resource.ts'
import { useBulk } from './table/bulk.ts'
import { deletion, useChanges } from './table/changes.ts'
import { Empty, EmptyPage } from './table/Empty.tsx'
import { Filters } from './table/Filters.tsx'
import { useOptimisticRows } from './table/optimistic.ts'
import { Pager } from './table/Pager.tsx'
import { usePermissions } from './table/permissions.ts'
import { RecordTable } from './table/RecordTable.tsx'
import { useRows } from './table/rows.ts'
import { SelectionBar } from './table/SelectionBar.tsx'
import { useSelection } from './table/selection.ts'
import { TitleBar } from './table/TitleBar.tsx'
import { listInputOf, type Open, useView } from './table/view.ts'
import { Loaded } from './ui/Loaded.tsx'
import { useTitle } from './ui/title.ts'

// The dialogs load after the table, so that the table appears sooner.
const loadDialogs = () => import('./dialogs/Dialogs.tsx')
const Dialogs = lazy(loadDialogs)

/** The page of any noun: its table, and all actions on its records. */
export function ResourcePage({ resource }: { resource: Resource }) {
  const pages = useView(resource)
  const permissions = usePermissions(resource)
  const { view, open } = pages
  const opened = view.open !== undefined && permissions.can(verbOf(resource, view.open)) ? view.open : undefined
  const query = useRows(resource, view)
  const { data, error, isFetching, isPlaceholderData } = query
  const changes = useChanges(resource)
  const { shown, pendingIds } = useOptimisticRows(resource.noun, data?.rows ?? [])
  const selection = useSelection(shown, JSON.stringify(listInputOf(resource, view)))
  const bulk = useBulk(resource, selection)
  const [toDelete, setToDelete] = useState<Row[]>()
  const [actionOnAll, setActionOnAll] = useState<Action>()
  const isLoaded = data !== undefined
  const isCursorInvalid = view.after !== undefined && error instanceof InvalidInputError
  useTitle(resource.title)

  useEffect(() => {
    // A failed preload is retried when a dialog opens.
    if (isLoaded) loadDialogs().catch(() => {})
  }, [isLoaded])

  return (
    <div className="page" aria-busy={isFetching}>
      <TitleBar resource={resource} total={data?.total} permissions={permissions} onOpen={open} />
      <Filters resource={resource} view={view} onChange={pages.change} />
      {error !== null && isLoaded && (
        <p role="alert" className="failed-line">
          This data may be out of date: the last refresh failed.
        </p>
      )}
      {!isLoaded && isCursorInvalid ? (
        <EmptyPage resource={resource} onFirst={pages.first} />
      ) : (
        <Loaded query={query} title={`${resource.title} cannot be loaded`} waiting={<Skeleton many={resource.many} />}>
          {({ rows }) =>
            rows.length === 0 ? (
              <Empty resource={resource} pages={pages} canCreate={permissions.can('create')} />
            ) : (
              <RecordTable
                resource={resource}
                rows={shown}
                sort={view.sort}
                isStale={isPlaceholderData}
                pendingIds={pendingIds}
                can={permissions.can}
                selection={selection}
                onSort={(sort) => pages.change({ sort })}
                onOpen={open}
                onAct={(action, row) => changes.act(action, [row])}
                onDelete={(row) => setToDelete([row])}
              />
            )
          }
        </Loaded>
      )}
      <SelectionBar
        resource={resource}
        selection={selection}
        total={data?.total}
        can={permissions.can}
        onAct={(action, rows) => void bulk.act(action, rows)}
        onDelete={setToDelete}
        onActOnAll={setActionOnAll}
      />
      {isLoaded && (shown.length > 0 || view.after !== undefined) && (
        <Pager view={view} next={isPlaceholderData ? null : data.next} pages={pages} />
      )}
      {(opened ?? toDelete ?? actionOnAll ?? changes.conflict) !== undefined && (
        <Suspense>
          <Dialogs
            resource={resource}
            view={view}
            open={opened}
            toDelete={toDelete}
            actionOnAll={actionOnAll}
            changes={changes}
            onClose={pages.close}
            onDelete={(rows) => void (rows.length === 1 ? changes.act(deletion(resource), rows) : bulk.remove(rows))}
            onDeleteClosed={() => setToDelete(undefined)}
            onActionOnAllClosed={() => setActionOnAll(undefined)}
          />
        </Suspense>
      )}
    </div>
  )
}

/** The procedure that a dialog calls. */
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
