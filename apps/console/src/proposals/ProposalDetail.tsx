import { NotFoundError } from '@resource/client'
import { ChevronRight, CircleCheck, TriangleAlert } from 'lucide-react'
import { useLocation } from 'wouter'
import { PreviewedChanges } from '../changes/Changes.tsx'
import { Figures } from '../changes/Differences.tsx'
import { Actor } from '../record/Actor.tsx'
import { describeChange } from '../resources/describe-change.ts'
import { resources } from '../resources/index.ts'
import { nameOf, type Resource } from '../resources/resource.ts'
import { useRecord } from '../table/queries.ts'
import { Ago } from '../ui/Ago.tsx'
import { formatCount, sentence } from '../ui/format.ts'
import { LoadedRecord } from '../ui/LoadedRecord.tsx'
import { Decisions } from './Decisions.tsx'
import { type Moved, movedSince } from './moved.ts'
import { longTitleOf, type Proposal } from './proposal.ts'
import { useProposal } from './use-proposal.ts'

/** A proposal: what it does, what it would do now, and the decision on it. */
export function ProposalDetail({ id }: { id: number }) {
  const [, navigate] = useLocation()
  const query = useProposal(id)
  return (
    <LoadedRecord one="proposal" many="proposals" query={query} onShowAll={() => navigate('/proposals')}>
      {(proposal) => <Details proposal={proposal} />}
    </LoadedRecord>
  )
}

function Details({ proposal }: { proposal: Proposal }) {
  const { id, reason, operation, status, proposer, created_at, expires_at, decided_by, decided_at } = proposal
  const isOpen = status === 'open'
  const isDone = status === 'applied'
  const moved = isOpen && proposal.obstacle === null && !proposal.is_current ? movedSince(proposal) : undefined
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
          {!isOpen && (
            <span>
              {status}
              {decided_by !== null && (
                <>
                  {' by '}
                  <Actor actor={decided_by} />
                </>
              )}{' '}
              {decided_at !== null && <Ago at={decided_at} />}
            </span>
          )}
        </p>
      </div>
      <blockquote className="quote" translate="no">
        {reason}
      </blockquote>
      {isOpen ? (
        <Standing proposal={proposal} moved={moved} />
      ) : (
        <h3>{isDone ? 'What it did' : 'What it would have done'}</h3>
      )}
      {moved !== undefined && moved.now.length > 0 && (
        <>
          <h3>What it would do now instead</h3>
          <PreviewedChanges
            label="Changes now"
            preview={{ created: 0, updated: moved.now.length, deleted: 0, changes: moved.now }}
          />
        </>
      )}
      {moved !== undefined && <h3>What it showed</h3>}
      <Figures preview={proposal} isDone={isDone} />
      <PreviewedChanges label="Proposed changes" preview={proposal} isPast={!isOpen} />
      <details>
        <summary>
          <ChevronRight />
          Request <code translate="no">{operation}</code>
        </summary>
        <pre translate="no">{JSON.stringify(proposal.input, null, 2)}</pre>
      </details>
      {isOpen && <Decisions proposal={proposal} />}
    </article>
  )
}

/** Whether an open proposal would still do what it shows. */
function Standing({ proposal, moved }: { proposal: Proposal; moved: Moved | undefined }) {
  const { is_current, obstacle } = proposal
  if (is_current) {
    return (
      <div className="row note good">
        <CircleCheck />
        <p>
          <b>As proposed.</b> Checked just now: it would do exactly what it shows.
        </p>
      </div>
    )
  }
  return (
    <div className="row note warning" role="alert">
      <TriangleAlert />
      <p>
        {obstacle === null ? (
          <>
            {moved !== undefined && <WhatMoved proposal={proposal} moved={moved} />} It would do something else now, so
            it has to be proposed again.
          </>
        ) : (
          <>
            <b>It cannot be applied now.</b> {sentence(obstacle)}
          </>
        )}
      </p>
    </div>
  )
}

/** `1 of 15 has changed: Ivan Okafor, status from inactive to active.` */
function WhatMoved({ proposal, moved: { former, now } }: { proposal: Proposal; moved: Moved }) {
  const { changes } = proposal
  const [first = now[0]] = former
  const resource = resources.find(({ noun }) => noun === first?.resource)
  const image = first?.before ?? first?.after
  if (resource === undefined || first === undefined || image == null) return null
  const isCut = changes.length < proposal.created + proposal.updated + proposal.deleted
  const count =
    former.length === 0
      ? `${formatCount(now.length, resource)} more ${now.length === 1 ? 'matches' : 'match'}`
      : `${former.length} of ${isCut ? 'the first ' : ''}${changes.length} ${former.length === 1 ? 'has' : 'have'} changed`
  return (
    <>
      <b>{count}:</b> <bdi translate="no">{nameOf(resource, image)}</bdi>
      {former.length > 0 && <Since resource={resource} change={first} />}
      {former.length > 1 && `, and ${formatCount(former.length - 1, { one: 'other', many: 'others' })}`}.
    </>
  )
}

/** What others have changed of a record since a proposal showed it. */
function Since({ resource, change: { id, before } }: { resource: Resource; change: Proposal['changes'][number] }) {
  const { data, error } = useRecord(resource, id ?? 0, id !== null && before !== null)
  if (error instanceof NotFoundError) return ' was deleted'
  const text = data === undefined || before === null ? '' : describeChange(resource, before, data)
  return text && `, ${text}`
}
