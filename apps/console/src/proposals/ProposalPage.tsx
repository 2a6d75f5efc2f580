import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { PreviewedChanges } from '../changes/Changes.tsx'
import { client, writer } from '../client.ts'
import { queryClient } from '../query-client.ts'
import { LONG_TIMEOUTS } from '../resources/calls.ts'
import { resources } from '../resources/index.ts'
import { Value } from '../resources/Value.tsx'
import { useSession } from '../session/session.ts'
import { addEdit } from '../table/history.ts'
import { useAllows, useCanWrite } from '../table/permissions.ts'
import { Button } from '../ui/Button.tsx'
import { FailedLine } from '../ui/FailedLine.tsx'
import { errorMessage } from '../ui/format.ts'
import { LoadedRecord } from '../ui/LoadedRecord.tsx'
import { notify } from '../ui/notices.ts'
import { useTitle } from '../ui/title.ts'
import { describeCounts, type Proposal, TIME } from './proposal.ts'

type Decision = 'applied' | 'rejected' | 'withdrawn'

/** A proposal: what it does, what it would do now, and the decision on it. */
export default function ProposalPage({ id }: { id: number }) {
  useTitle(`Proposal ${id}`)
  const [, navigate] = useLocation()
  const query = useQuery({
    queryKey: ['proposals', 'record', id],
    queryFn: ({ signal }) => client.proposals.get.query({ id }, { signal }),
  })
  return (
    <div className="page" aria-busy={query.isFetching}>
      <p className="back">
        <Link href="/proposals">
          <span aria-hidden="true">‹</span> Proposals
        </Link>
      </p>
      <LoadedRecord one="proposal" many="proposals" query={query} onShowAll={() => navigate('/proposals')}>
        {(proposal) => <Details proposal={proposal} />}
      </LoadedRecord>
    </div>
  )
}

function Details({ proposal }: { proposal: Proposal }) {
  const { id, reason, operation, status, proposer, created_at, expires_at, decided_by, decided_at } = proposal
  const { input, is_current, current_changes, obstacle } = proposal
  const isOpen = status === 'open'
  const hasMoved = isOpen && obstacle === null && !is_current
  const facts = [
    ['Write', operation],
    ['Status', status],
    ['Changes', describeCounts(proposal)],
    ['Proposer', proposer],
    ['Proposed', <Value key="at" column={TIME} value={created_at} />],
    ...(isOpen ? [['Ends', <Value key="at" column={TIME} value={expires_at} />] as const] : []),
    ...(decided_by === null ? [] : [['Decided by', decided_by] as const]),
    ...(decided_at === null ? [] : [['Decided', <Value key="at" column={TIME} value={decided_at} />] as const]),
  ] as const
  return (
    <>
      <div className="title">
        <h1>Proposal {id}</h1>
        {isOpen && <Decisions proposal={proposal} />}
      </div>
      <blockquote translate="no">{reason}</blockquote>
      {isOpen && obstacle !== null && <FailedLine>It cannot be applied now. {obstacle}</FailedLine>}
      {hasMoved && (
        <FailedLine>It would do something else now, so it cannot be applied. It has to be proposed again.</FailedLine>
      )}
      <dl className="record">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h2>{isOpen && is_current ? 'What it does' : 'What it showed'}</h2>
      <PreviewedChanges label="Proposed changes" preview={proposal} />
      {hasMoved && (
        <>
          <h2>What it would do now</h2>
          <PreviewedChanges
            label="Changes now"
            preview={{ created: 0, updated: 0, deleted: 0, changes: current_changes }}
          />
        </>
      )}
      <details>
        <summary>Input</summary>
        <pre translate="no">{JSON.stringify(input, null, 2)}</pre>
      </details>
    </>
  )
}

const LABELS = { applied: 'Apply', rejected: 'Reject', withdrawn: 'Withdraw' }

/** The decisions that the role allows. */
function Decisions({ proposal }: { proposal: Proposal }) {
  const { id, proposer, operation, is_current } = proposal
  const [pending, setPending] = useState<Decision>()
  const isOwn = useSession().session?.name === proposer
  const canReject = useAllows({ access: 'writer' })
  const canApply = useCanWrite(operation)
  const decisions: [Decision, boolean][] = [
    ['withdrawn', isOwn],
    ['rejected', canReject],
    ['applied', canApply && is_current],
  ]

  const decide = async (decision: Decision) => {
    setPending(decision)
    try {
      const answer = await writer.proposals.setStatus.mutate({ id, status: decision }, LONG_TIMEOUTS)
      if (decision === 'applied') await announce(proposal, answer)
      else notify('done', `Proposal ${id} ${decision}`)
    } catch (error) {
      notify('failed', `Proposal ${id} not ${decision}. ${errorMessage(error)}`)
    }
    await queryClient.invalidateQueries()
    setPending(undefined)
  }

  return (
    <div className="buttons">
      {decisions.map(
        ([decision, isOffered]) =>
          isOffered && (
            <Button
              key={decision}
              className={decision === 'applied' ? 'button primary' : 'button'}
              isDisabled={pending !== undefined}
              onPress={() => void decide(decision)}
            >
              {LABELS[decision]}
            </Button>
          ),
      )}
    </div>
  )
}

/** Reports what an applied proposal has done, with an undo. */
async function announce({ id, changes, created, updated, deleted }: Proposal, answer: object): Promise<void> {
  const noun = changes[0]?.resource
  const resource = resources.find((resource) => resource.noun === noun)
  // The resource has no page, such as one of a team.
  if (resource === undefined) return notify('done', `Proposal ${id} applied`)
  const count = created + updated + deleted
  const done = created === count ? 'created' : deleted === count ? 'deleted' : 'changed'
  const written = { request: answer, changes: changes.filter((change) => change.resource === noun), count }
  await addEdit(resource, done, [], Promise.resolve(written))()
}
