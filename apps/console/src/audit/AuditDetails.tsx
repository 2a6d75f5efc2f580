import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { Difference, PreviewedChanges } from '../changes/Changes.tsx'
import { client } from '../client.ts'
import { Actor } from '../record/Actor.tsx'
import { type Entry, isShort, type Line, shownFields } from './entries.ts'

const MAX_RECORDS = 50

/** The request of a line, and what it changed that the line does not show. */
export function AuditDetails({ line: { entry, entries, total } }: { line: Line }) {
  const { request_id, procedure, actor, actor_detail, address, group, reverses } = entry
  const facts = [
    ['request', request_id],
    ['operation', procedure],
    ['who', [actor, actor_detail, address && `from ${address}`].filter(Boolean).join(', ')],
    ['group', group],
    ['undoes', reverses],
  ].filter((fact): fact is [string, string] => fact[1] !== null && fact[1] !== undefined)
  const fields = total > 1 || isShort(entry) ? [] : shownFields(entry)
  return (
    <div className="entry">
      <dl className="diff">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd translate="no">
              {label === 'undoes' ? <Link href={`/audit?request_id=${value}`}>{value}</Link> : value}
            </dd>
          </div>
        ))}
        <Proposal entry={entry} />
        {fields.map((column) => (
          <div key={column.field}>
            <dt>{column.label.toLowerCase()}</dt>
            <dd>
              <Difference column={column} change={entry} />
            </dd>
          </div>
        ))}
      </dl>
      {total > 1 && (
        <PreviewedChanges
          label="Records of the request"
          preview={{ created: total, updated: 0, deleted: 0, changes: entries.slice(0, MAX_RECORDS) }}
        />
      )}
    </div>
  )
}

/** The proposal that a request applied. */
function Proposal({ entry: { proposed_by, request_id } }: { entry: Entry }) {
  const { data } = useQuery({
    queryKey: ['proposals', 'of', request_id],
    queryFn: ({ signal }) => client.proposals.list.query({ request_id: request_id ?? '', limit: 1 }, { signal }),
    enabled: proposed_by !== null && request_id !== null,
  })
  const [proposal] = data?.proposals ?? []
  if (proposed_by === null) return null
  return (
    <div>
      <dt>proposed by</dt>
      <dd>
        <Actor actor={proposed_by} />
        {proposal !== undefined && (
          <Link href={`/proposals/${proposal.id}`} translate="no">
            <bdi>{proposal.reason}</bdi>
          </Link>
        )}
      </dd>
    </div>
  )
}
