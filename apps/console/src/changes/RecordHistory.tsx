import type { Output } from '@resource/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../client.ts'
import { isChanged } from '../resources/describe-change.ts'
import type { Resource } from '../resources/resource.ts'
import { Value } from '../resources/Value.tsx'
import { Button } from '../ui/Button.tsx'
import { Loaded } from '../ui/Loaded.tsx'
import { Difference } from './Changes.tsx'
import { ReversalDialog } from './ReversalDialog.tsx'

type Entry = Output<'audit', 'list'>['audit'][number]

const SHOWN = 20
const TIME = { kind: 'time', decimals: 0 } as const

interface Props {
  resource: Resource
  id: number
}

/** The last changes of a record, each of which can be undone. */
export default function RecordHistory({ resource, id }: Props) {
  const { noun, one, recordColumns } = resource
  const [asked, ask] = useState<string>()
  const query = useQuery({
    queryKey: [noun, 'history', id],
    queryFn: ({ signal }) => client.audit.list.query({ resource: noun, record_id: id, limit: SHOWN }, { signal }),
  })
  return (
    <section className="history" aria-labelledby="history">
      <h2 id="history">History</h2>
      <Loaded query={query} title="The history cannot be loaded" waiting="Loading the history…">
        {({ audit }) =>
          audit.length === 0 ? (
            <p className="hint">The audit log has no change of this {one}.</p>
          ) : (
            <ol>
              {audit.map((entry) => {
                const { id, at, before, after, request_id } = entry
                const text = `${entry.actor_detail ?? entry.actor} ${verbOf(entry)} this ${one}`
                return (
                  <li key={id}>
                    <p>
                      <bdi>{text}</bdi> <Value column={TIME} value={at} />
                    </p>
                    {request_id !== null && (
                      <Button className="small" aria-label={`Undo…: ${text}`} onPress={() => ask(request_id)}>
                        Undo…
                      </Button>
                    )}
                    {before !== null && after !== null && (
                      <dl>
                        {recordColumns
                          .filter((column) => isChanged(column, before, after))
                          .map((column) => (
                            <div key={column.field}>
                              <dt>{column.label}</dt>
                              <dd>
                                <Difference column={column} change={entry} />
                              </dd>
                            </div>
                          ))}
                      </dl>
                    )}
                  </li>
                )
              })}
            </ol>
          )
        }
      </Loaded>
      {asked !== undefined && <ReversalDialog resource={resource} requestId={asked} onClose={() => ask(undefined)} />}
    </section>
  )
}

function verbOf({ before, after }: Entry): string {
  if (before === null) return 'created'
  return after === null ? 'deleted' : 'changed'
}
