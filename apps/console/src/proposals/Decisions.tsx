import { Check } from 'lucide-react'
import { useState } from 'react'
import { writer } from '../client.ts'
import { queryClient } from '../query-client.ts'
import { LONG_TIMEOUTS } from '../resources/calls.ts'
import { resources } from '../resources/index.ts'
import { useSession } from '../session/session.ts'
import { addEdit } from '../table/history.ts'
import { procedureOf, useAllows } from '../table/permissions.ts'
import { Button } from '../ui/Button.tsx'
import { errorMessage } from '../ui/format.ts'
import { notify } from '../ui/notices.ts'
import { countOf, type Proposal, titleOf } from './proposal.ts'

type Decision = 'applied' | 'rejected' | 'withdrawn'

/** The decisions that the role allows. */
export function Decisions({ proposal }: { proposal: Proposal }) {
  const { id, proposer, operation, is_current, created, updated } = proposal
  const [pending, setPending] = useState<Decision>()
  const isOwn = useSession().session?.name === proposer
  const canReject = useAllows({ access: 'writer' })
  const canApply = useAllows(procedureOf(operation)) && is_current
  const decisions: [Decision, string, boolean][] = [
    ['applied', created + updated === 0 ? titleOf(proposal) : `Apply to ${countOf(proposal)}`, canApply],
    ['rejected', 'Reject', canReject],
    ['withdrawn', 'Withdraw', isOwn],
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
        ([decision, label, isOffered]) =>
          isOffered && (
            <Button
              key={decision}
              className={decision === 'applied' ? 'button primary' : 'button'}
              icon={decision === 'applied' ? Check : undefined}
              isDisabled={pending !== undefined}
              onPress={() => void decide(decision)}
            >
              {label}
            </Button>
          ),
      )}
      {canApply && <p className="faint small-text">Both names go into the audit log. You can undo it.</p>}
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
