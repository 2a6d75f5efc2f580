import { lazy, type ReactNode, Suspense } from 'react'
import { flushSync } from 'react-dom'
import { useLocation } from 'wouter'
import { editVerb, nameOf, type Resource } from '../resources/resource.ts'
import { deletion, useChanges } from '../table/changes.ts'
import { useMarks } from '../table/live.ts'
import { useOptimisticRows } from '../table/optimistic.ts'
import { usePermissions } from '../table/permissions.ts'
import { useRecord } from '../table/queries.ts'
import { useView } from '../table/view.ts'
import { FailedLine } from '../ui/FailedLine.tsx'
import { LoadedRecord } from '../ui/LoadedRecord.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { AT_ONCE } from '../ui/shown-location.tsx'
import { useTitle } from '../ui/title.ts'
import { Facts } from './Facts.tsx'
import { RecordActions } from './RecordActions.tsx'
import { RecordCode } from './RecordCode.tsx'
import { RecordStatus } from './RecordStatus.tsx'

const Dialogs = lazy(() => import('../dialogs/Dialogs.tsx'))

interface Props {
  resource: Resource
  id: number
  /** The page of the list from which the reader came. */
  list: string
  hasHistory: boolean
  /** What is about the record, also if it does not exist. */
  children: ReactNode
}

/** A record with its title, its actions and its fields. */
export function RecordView({ resource, id, list, hasHistory, children }: Props) {
  const pages = useView(resource)
  const { can } = usePermissions(resource)
  const query = useRecord(resource, id)
  const [, navigate] = useLocation()
  const changes = useChanges(resource, ({ verb }) => {
    // Before the refresh, which would read the deleted record.
    if (verb === 'delete') flushSync(() => navigate(list, { state: AT_ONCE }))
  })
  const mark = useMarks(resource.noun)(id)
  const { shown, isPending } = useOptimisticRows(resource.noun, query.data === undefined ? [] : [query.data])
  const opened = pages.view.open === id && can(editVerb(resource.noun)) ? id : undefined
  useTitle(query.data === undefined ? resource.title : nameOf(resource, query.data))

  return (
    <div aria-busy={query.isFetching}>
      <LoadedRecord
        one={resource.one}
        many={resource.many}
        query={query}
        onShowAll={() => navigate(list)}
        waiting={<Skeleton label={`Loading the ${resource.one}…`} lines={1} className="title-lines" />}
      >
        {(stored) => {
          const [row = stored] = shown
          return (
            <>
              <div className="row page-head">
                <div>
                  <h1>
                    <bdi translate="no">{nameOf(resource, row)}</bdi>
                  </h1>
                  <RecordStatus resource={resource} row={row} hasHistory={hasHistory} />
                </div>
                <RecordActions
                  resource={resource}
                  row={row}
                  can={can}
                  isPending={(verb) => isPending(id, verb)}
                  onAct={(action) => void changes.act(action, row)}
                  onEdit={() => pages.open(id)}
                  onDelete={() => void changes.act(deletion(resource), row)}
                />
              </div>
              {mark?.kind === 'deleted' && (
                <FailedLine>Someone deleted this {resource.one}. It no longer exists.</FailedLine>
              )}
            </>
          )
        }}
      </LoadedRecord>
      <div className="record">
        {query.data !== undefined && <Facts resource={resource} row={shown[0] ?? query.data} mark={mark} />}
        {query.isLoading && (
          <div className="in-facts">
            <Skeleton label="Loading the fields…" lines={resource.recordColumns.length - 1} values={2} />
          </div>
        )}
        {children}
        {query.data !== undefined && <RecordCode resource={resource} row={query.data} />}
      </div>
      {(opened ?? changes.conflict) !== undefined && (
        <Suspense>
          <Dialogs resource={resource} view={pages.view} open={opened} changes={changes} onClose={pages.close} />
        </Suspense>
      )}
    </div>
  )
}
