import { Link } from 'wouter'
import { PreviewedChanges } from '../changes/Changes.tsx'
import { DiffRow, DiffRows } from '../changes/DiffList.tsx'
import { Actor } from '../record/Actor.tsx'
import { useProposalOf } from '../record/history.ts'
import { type Entry, isShort, type Line, shownFields } from './entries.ts'

const MAX_RECORDS = 50

/** The request of a line, and what it changed that the line does not show. */
export function AuditDetails({ line: { entry, entries, total } }: { line: Line }) {
  const { request_id, procedure, actor, actor_detail, address, group, reverses } = entry
  const facts = [
    [group !== null && total > 1 ? 'last request' : 'request', request_id],
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
          <DiffRow key={label} label={label}>
            <span translate="no">
              {label === 'undoes' ? <Link href={`/audit?request_id=${value}`}>{value}</Link> : value}
            </span>
          </DiffRow>
        ))}
        <Proposal entry={entry} />
        <DiffRows columns={fields} change={entry} />
      </dl>
      {total > 1 && (
        <PreviewedChanges
          label="Records of the request"
          isPast
          preview={{ created: total, updated: 0, deleted: 0, changes: entries.slice(0, MAX_RECORDS) }}
        />
      )}
    </div>
  )
}

/** The proposal that a request applied. */
function Proposal({ entry }: { entry: Entry }) {
  const { data: proposal } = useProposalOf(entry)
  if (entry.proposed_by === null) return null
  return (
    <DiffRow label="proposed by">
      <Actor actor={entry.proposed_by} />
      {proposal && (
        <Link href={`/proposals/${proposal.id}`} translate="no">
          <bdi>{proposal.reason}</bdi>
        </Link>
      )}
    </DiffRow>
  )
}
