import { contract } from '@resource/contract'
import { lazy, Suspense, useState } from 'react'
import { flushSync } from 'react-dom'
import { Link, useLocation } from 'wouter'
import { useHistoryState } from 'wouter/use-browser-location'
import type { Question } from './dialogs/Dialogs.tsx'
import { editVerb, nameOf, type Resource } from './resources/resource.ts'
import { Value } from './resources/Value.tsx'
import { deletion, useChanges } from './table/changes.ts'
import { useMarks } from './table/live.ts'
import { useOptimisticRows } from './table/optimistic.ts'
import { useAllows, usePermissions } from './table/permissions.ts'
import { useRecord } from './table/queries.ts'
import { useView } from './table/view.ts'
import { Button } from './ui/Button.tsx'
import { FailedLine } from './ui/FailedLine.tsx'
import { LoadedRecord } from './ui/LoadedRecord.tsx'
import { useTitle } from './ui/title.ts'

const Dialogs = lazy(() => import('./dialogs/Dialogs.tsx'))
const RecordHistory = lazy(() => import('./changes/RecordHistory.tsx'))

interface Props {
  resource: Resource
  id: number
}

/** The page of one record: all its fields, and all actions on it. */
export function RecordPage({ resource, id }: Props) {
  const pages = useView(resource)
  const { can } = usePermissions(resource)
  const hasHistory = useAllows(contract.audit.procedures.list)
  const query = useRecord(resource, id)
  const [, navigate] = useLocation()
  const { from = '' } = useHistoryState<{ from?: string } | null>() ?? {}
  const list = `/${resource.noun}${from}`
  const changes = useChanges(resource, ({ verb }) => {
    // Before the refresh, which would read the deleted record.
    if (verb === 'delete') flushSync(() => navigate(list))
  })
  const mark = useMarks(resource.noun)(id)?.kind
  const { shown, isPending } = useOptimisticRows(resource.noun, query.data === undefined ? [] : [query.data])
  const [question, ask] = useState<Question>()
  const opened = pages.view.open === id && can(editVerb(resource.noun)) ? id : undefined
  useTitle(query.data === undefined ? resource.title : nameOf(resource, query.data))

  return (
    <div className="page" aria-busy={query.isFetching}>
      <p className="back">
        <Link href={list} state={{ row: id }}>
          <span aria-hidden="true">‹</span> {resource.title}
        </Link>
      </p>
      <LoadedRecord one={resource.one} many={resource.many} query={query} onShowAll={() => navigate(list)}>
        {(stored) => {
          const [row = stored] = shown
          return (
            <>
              <div className="title">
                <h1>
                  <bdi translate="no">{nameOf(resource, row)}</bdi>
                </h1>
                <div className="buttons">
                  {resource.actions
                    .filter(({ verb, isFor }) => can(verb) && isFor(row))
                    .map((action, index) => (
                      // The index as key keeps the focus when Deactivate becomes Activate.
                      <Button
                        key={index}
                        isDisabled={isPending(id, action.verb)}
                        onPress={() => void changes.act(action, row)}
                      >
                        {action.label}
                      </Button>
                    ))}
                  {can('delete') && (
                    <Button
                      className="button danger"
                      isDisabled={isPending(id, 'delete')}
                      onPress={() => ask({ action: deletion(resource), rows: [row] })}
                    >
                      Delete…
                    </Button>
                  )}
                  {can(editVerb(resource.noun)) && (
                    <Button className="button primary" onPress={() => pages.open(id)}>
                      Edit…
                    </Button>
                  )}
                </div>
              </div>
              {mark === 'deleted' && <FailedLine>Someone deleted this {resource.one}. It no longer exists.</FailedLine>}
              <dl className={`record ${mark ?? ''}`}>
                {resource.recordColumns.map((column) => (
                  <div key={column.field}>
                    <dt>{column.label}</dt>
                    <dd>
                      <Value column={column} value={row[column.field]} />
                    </dd>
                  </div>
                ))}
              </dl>
            </>
          )
        }}
      </LoadedRecord>
      {hasHistory && (
        <Suspense>
          <RecordHistory resource={resource} id={id} />
        </Suspense>
      )}
      {(opened ?? question ?? changes.conflict) !== undefined && (
        <Suspense>
          <Dialogs
            resource={resource}
            view={pages.view}
            open={opened}
            question={question}
            changes={changes}
            onClose={pages.close}
            onAsk={ask}
            onDelete={(row) => void changes.act(deletion(resource), row)}
          />
        </Suspense>
      )}
    </div>
  )
}
