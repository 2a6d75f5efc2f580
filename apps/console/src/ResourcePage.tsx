import { InvalidInputError } from '@resource/client'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import type { Question } from './dialogs/Dialogs.tsx'
import { editVerb, type Resource } from './resources/resource.ts'
import { cellEdit, useChanges } from './table/changes.ts'
import { Empty, EmptyPage } from './table/Empty.tsx'
import { GridHints } from './table/GridHints.tsx'
import { useCreated } from './table/live.ts'
import { useOptimisticRows } from './table/optimistic.ts'
import { Pager } from './table/Pager.tsx'
import { usePermissions } from './table/permissions.ts'
import { refresh, useCount, useRows } from './table/queries.ts'
import { RecordTable } from './table/RecordTable.tsx'
import { useSelection } from './table/selection.ts'
import { useColumns } from './table/shown-columns.ts'
import { TitleBar } from './table/TitleBar.tsx'
import { loadPanels, Toolbar } from './table/Toolbar.tsx'
import { filtersOf, listInputOf, listQueryOf, useView, verbOf } from './table/view.ts'
import { Button } from './ui/Button.tsx'
import { FailedLine } from './ui/FailedLine.tsx'
import { formatCount } from './ui/format.ts'
import { Loaded } from './ui/Loaded.tsx'
import { Scrim } from './ui/later.tsx'
import { Skeleton } from './ui/Skeleton.tsx'
import { useTitle } from './ui/title.ts'

// The dialogs and panels load after the table, so that the table appears sooner.
const loadDialogs = () => import('./dialogs/Dialogs.tsx')
const Dialogs = lazy(loadDialogs)
// The page works without these.
const nothing = () => ({ default: (): ReactNode => null })
const SelectionBar = lazy(() => loadDialogs().then(({ SelectionBar }) => ({ default: SelectionBar }), nothing))
const UnfinishedImport = lazy(() => loadDialogs().then((all) => ({ default: all.UnfinishedImport }), nothing))

/** The page of any noun: its table, and all actions on its records. */
export function ResourcePage({ resource }: { resource: Resource }) {
  const pages = useView(resource)
  const permissions = usePermissions(resource)
  const { view, open } = pages
  const opened = view.open !== undefined && permissions.can(verbOf(resource, view.open)) ? view.open : undefined
  const query = useRows(resource, view)
  const { data, error, isFetching, isPlaceholderData } = query
  const columns = useColumns(resource)
  const { shown, isPending } = useOptimisticRows(resource.noun, data?.rows ?? [])
  const list = JSON.stringify(listInputOf(resource, view))
  const selection = useSelection(shown, listQueryOf({ ...view, limit: undefined }))
  const changes = useChanges(resource, ({ verb }, row) => verb === 'delete' && selection.remove([row.id]))
  const [question, ask] = useState<Question>()
  const [askedOn, setAskedOn] = useState(list)
  if (askedOn !== list) {
    // The Back button has led to other records: a dialog for those of before must not act on these.
    setAskedOn(list)
    ask(undefined)
  }
  const isFiltered = Object.keys(filtersOf(resource, view)).length > 0
  const { data: all } = useCount(resource, {})
  // Without a filter the page and the sidebar show one figure.
  const total = isFiltered ? data?.total : ((data && all) ?? data?.total)
  const matching = isFiltered ? data?.matching : total
  const created = useCreated(resource.noun, isPlaceholderData ? undefined : data)
  const isLoaded = data !== undefined
  const isPageInvalid = (view.page ?? view.after) !== undefined && error instanceof InvalidInputError
  useTitle(resource.title)

  useEffect(() => {
    // A failed preload is retried when a dialog opens.
    if (isLoaded) Promise.all([loadDialogs(), loadPanels()]).catch(() => {})
  }, [isLoaded])

  return (
    <div className="page" aria-busy={isFetching}>
      <TitleBar
        resource={resource}
        total={total}
        all={isFiltered ? all : undefined}
        permissions={permissions}
        onOpen={open}
      >
        {created > 0 && (
          <Button className="button new-rows" onPress={() => void refresh(resource)}>
            {`Show ${formatCount(created, { one: `new ${resource.one}`, many: `new ${resource.many}` })}`}
            {isFiltered && ', if matching'}
          </Button>
        )}
      </TitleBar>
      <Toolbar resource={resource} view={view} columns={columns} onChange={pages.change} />
      {opened !== 'import' && permissions.can('createMany') && (
        <Suspense>
          <UnfinishedImport resource={resource} onContinue={() => open('import')} />
        </Suspense>
      )}
      {pages.ignored.length > 0 && (
        <p role="status" className="hint">
          These parts of the link are unknown or invalid and have no effect: {pages.ignored.join(', ')}.
        </p>
      )}
      {error !== null && isLoaded && <FailedLine>This data may be out of date: the last refresh failed.</FailedLine>}
      {data?.searched !== undefined && (
        <p role="status" className="hint">
          The database has no search index, so the search covers only the first {data.searched.toLocaleString('en')}{' '}
          {resource.many}.
        </p>
      )}
      {!isLoaded && isPageInvalid ? (
        <EmptyPage resource={resource} onFirst={() => pages.goToPage(1)} />
      ) : (
        <Loaded
          query={query}
          title={`The ${resource.many} could not be loaded`}
          waiting={
            <Skeleton
              label={`Loading ${resource.many}…`}
              lines={12}
              values={columns.shown.length + 1}
              className="bleed"
            />
          }
        >
          {({ rows }) =>
            rows.length === 0 ? (
              <Empty resource={resource} pages={pages} canCreate={permissions.can('create')} />
            ) : (
              <RecordTable
                resource={resource}
                columns={columns.shown}
                rows={shown}
                sort={view.sort}
                isStale={isPlaceholderData}
                isPending={isPending}
                can={permissions.can}
                isProposing={permissions.isProposing}
                selection={selection}
                onSort={(sort) => pages.change({ sort })}
                onAct={(action, row) => changes.act(action, row)}
                onEdit={(row, field, value) => changes.act(cellEdit(resource, field, value), row)}
                onOpen={open}
              />
            )
          }
        </Loaded>
      )}
      <Suspense>
        <SelectionBar
          resource={resource}
          selection={selection}
          total={matching}
          permissions={permissions}
          onEdit={() => ask({ rows: selection.isEverything ? undefined : selection.rows })}
          onAsk={(action, rows) => ask({ action, rows })}
          onExport={() => ask({ rows: selection.isEverything ? undefined : selection.rows, isExport: true })}
        />
      </Suspense>
      {data?.total !== undefined && (data.total > 0 || (view.page ?? view.after) !== undefined) && (
        <Pager
          pages={pages}
          shown={data.rows.length}
          total={total ?? data.total}
          next={isPlaceholderData ? null : data.next}
        />
      )}
      {shown.length > 0 && <GridHints canEdit={permissions.can(editVerb(resource.noun))} />}
      {(opened ?? question ?? changes.conflict) !== undefined && (
        <Suspense fallback={<Scrim />}>
          <Dialogs
            resource={resource}
            view={view}
            open={opened}
            question={question}
            total={matching ?? 0}
            changes={changes}
            onClose={pages.close}
            onAsk={ask}
            onDone={() => selection.remove((question?.rows ?? selection.rows).map(({ id }) => id))}
          />
        </Suspense>
      )}
    </div>
  )
}
