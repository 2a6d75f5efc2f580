import { useQuery } from '@tanstack/react-query'
import { ChevronRight, CircleCheck, TriangleAlert } from 'lucide-react'
import { useLocation } from 'wouter'
import { PreviewedChanges } from '../changes/Changes.tsx'
import { Figures } from '../changes/Differences.tsx'
import { client } from '../client.ts'
import { Actor } from '../record/Actor.tsx'
import { Ago } from '../ui/Ago.tsx'
import { LoadedRecord } from '../ui/LoadedRecord.tsx'
import { Decisions } from './Decisions.tsx'
import { longTitleOf, type Proposal } from './proposal.ts'

/** A proposal: what it does, what it would do now, and the decision on it. */
export function ProposalDetail({ id }: { id: number }) {
  const [, navigate] = useLocation()
  const query = useQuery({
    queryKey: ['proposals', 'record', id],
    queryFn: ({ signal }) => client.proposals.get.query({ id }, { signal }),
  })
  return (
    <LoadedRecord one="proposal" many="proposals" query={query} onShowAll={() => navigate('/proposals')}>
      {(proposal) => <Details proposal={proposal} />}
    </LoadedRecord>
  )
}

function Details({ proposal }: { proposal: Proposal }) {
  const { id, reason, operation, status, proposer, created_at, expires_at, decided_by, decided_at } = proposal
  const { input, is_current, current_changes } = proposal
  const isOpen = status === 'open'
  const hasMoved = isOpen && proposal.obstacle === null && !is_current
  return (
    <article className="proposal" aria-labelledby="proposal">
      <div>
        <h2 id="proposal">{longTitleOf(proposal)}</h2>
        <p className="sub">
          <span>Proposal {id}</span>
          <Actor actor={proposer} />
          <Ago at={created_at} />
          {isOpen && (
            <span>
              ends <Ago at={expires_at} />
            </span>
          )}
          {decided_by !== null && (
            <span>
              {status} by <Actor actor={decided_by} /> {decided_at !== null && <Ago at={decided_at} />}
            </span>
          )}
        </p>
      </div>
      <blockquote className="quote" translate="no">
        {reason}
      </blockquote>
      {isOpen ? <Standing proposal={proposal} /> : <p className="status">{dotOf(status)}</p>}
      {hasMoved && <h3>What it showed</h3>}
      <Figures preview={proposal} />
      <PreviewedChanges label="Proposed changes" preview={proposal} />
      {hasMoved && (
        <>
          <h3>What it would do now</h3>
          <PreviewedChanges
            label="Changes now"
            preview={{ created: 0, updated: 0, deleted: 0, changes: current_changes }}
          />
        </>
      )}
      <details>
        <summary>
          <ChevronRight aria-hidden="true" className="i" />
          Request <code translate="no">{operation}</code>
        </summary>
        <pre translate="no">{JSON.stringify(input, null, 2)}</pre>
      </details>
      {isOpen && <Decisions proposal={proposal} />}
    </article>
  )
}

/** Whether an open proposal would still do what it shows. */
function Standing({ proposal }: { proposal: Proposal }) {
  const { is_current, obstacle } = proposal
  if (is_current) {
    return (
      <div className="note good">
        <CircleCheck aria-hidden="true" className="i" />
        <p>
          <b>As proposed.</b> Checked just now: it would do exactly what it shows.
        </p>
      </div>
    )
  }
  return (
    <div className="note warning" role="alert">
      <TriangleAlert aria-hidden="true" className="i" />
      <p>
        {obstacle === null ? (
          'It would do something else now, so it cannot be applied. It has to be proposed again.'
        ) : (
          <>
            <b>It cannot be applied now.</b> {obstacle}
          </>
        )}
      </p>
    </div>
  )
}

function dotOf(status: Proposal['status']) {
  return (
    <>
      <span className={status === 'applied' ? 'dot' : 'dot off'} />
      {status}
    </>
  )
}
