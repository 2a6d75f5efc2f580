import { useState } from 'react'
import { ReversalDialog } from '../changes/ReversalDialog.tsx'
import type { Resource } from '../resources/resource.ts'
import { useRecord } from '../table/queries.ts'
import { Button } from '../ui/Button.tsx'
import { Loaded } from '../ui/Loaded.tsx'
import { Select } from '../ui/Select.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { HistoryEntry } from './HistoryEntry.tsx'
import { changedFields, told, useHistory } from './history.ts'

interface Props {
  resource: Resource
  id: number
  /** Whether the record exists; without it and without changes there is nothing to show. */
  isStored: boolean
}

/** The changes of a record, each of which can be undone. */
export function RecordHistory({ resource, id, isStored }: Props) {
  const [asked, ask] = useState<string>()
  const [field, setField] = useState('')
  const query = useHistory(resource, id)
  const { data: stored } = useRecord(resource, id)
  const entries = told(query.data?.pages.flatMap(({ audit }) => audit) ?? [])
  const effective = entries.filter(({ isUndone }) => !isUndone).map(({ entry }) => entry)
  const columns = resource.recordColumns.filter((column) =>
    entries.some(({ entry }) => changedFields(resource, entry).some((changed) => changed.field === column.field)),
  )
  const shown = entries.filter(
    ({ entry }) => field === '' || changedFields(resource, entry).some((changed) => changed.field === field),
  )
  if (!isStored && entries.length === 0) return null
  return (
    <section className="in-history" aria-labelledby="history">
      <div className="row section-head">
        <h2 id="history">History</h2>
        {columns.length > 1 && (
          <Select
            aria-label="Field"
            value={field}
            options={[['', 'All fields'], ...columns.map(({ field, label }) => [field, label] as const)]}
            onChange={setField}
          />
        )}
      </div>
      <Loaded
        query={query}
        title="The history cannot be loaded"
        waiting={<Skeleton label="Loading the history…" lines={4} />}
      >
        {() =>
          entries.length === 0 ? (
            <p className="faint">The audit log has no change of this {resource.one}.</p>
          ) : (
            <ol className="history">
              {shown.map((told) => (
                <HistoryEntry
                  key={told.entry.id}
                  resource={resource}
                  told={told}
                  stored={stored}
                  newer={effective.slice(0, effective.findLastIndex(({ id }) => id > told.entry.id) + 1)}
                  onUndo={ask}
                />
              ))}
            </ol>
          )
        }
      </Loaded>
      {query.hasNextPage && (
        <Button className="small button" isDisabled={query.isFetching} onPress={() => void query.fetchNextPage()}>
          Show earlier changes
        </Button>
      )}
      {asked !== undefined && (
        <ReversalDialog key={asked} resource={resource} requestId={asked} isImmediate onClose={() => ask(undefined)} />
      )}
    </section>
  )
}
