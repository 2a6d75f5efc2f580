import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'wouter'
import { client } from '../client.ts'
import { Value } from '../resources/Value.tsx'
import { Button } from '../ui/Button.tsx'
import { Choice } from '../ui/Choice.tsx'
import { Loaded } from '../ui/Loaded.tsx'
import { useTitle } from '../ui/title.ts'
import { ValueTable } from '../ui/ValueTable.tsx'
import { describeCounts, STATUSES, TIME } from './proposal.ts'

const LIMIT = 50

/** The proposals with a status, newest first. */
export default function ProposalsPage() {
  useTitle('Proposals')
  const [search, setSearch] = useSearchParams()
  const status = STATUSES.find((status) => status === search.get('status')) ?? 'open'
  const page = Math.max(1, Math.floor(Number(search.get('page'))) || 1)
  const input = { status, page, limit: LIMIT, count: true }
  const query = useQuery({
    queryKey: ['proposals', 'list', input],
    queryFn: ({ signal }) => client.proposals.list.query(input, { signal }),
    placeholderData: keepPreviousData,
  })
  const goTo = (page: number) => setSearch({ status, page: String(page) })
  return (
    <div className="page" aria-busy={query.isFetching}>
      <div className="title">
        <h1>Proposals</h1>
        <Choice
          label="Status"
          value={status}
          options={STATUSES.map((status) => [status, status])}
          onChange={(status) => setSearch({ status })}
        />
      </div>
      <Loaded query={query} title="The proposals cannot be loaded" waiting="Loading the proposals…">
        {({ proposals, total = 0 }) =>
          proposals.length === 0 ? (
            <div className="state">
              <h2>No proposal is {status}</h2>
              <p>A key with the role proposer proposes writes, which others apply or reject here.</p>
            </div>
          ) : (
            <>
              <ValueTable
                caption="Proposals"
                titles={[
                  'Reason',
                  'Write',
                  'Changes',
                  'Proposer',
                  'Proposed',
                  ...(status === 'open' ? [] : ['Decided by']),
                ]}
                rows={proposals.map((proposal) => ({
                  key: proposal.id,
                  name: (
                    <Link href={`/proposals/${proposal.id}`} translate="no">
                      <bdi>{proposal.reason}</bdi>
                    </Link>
                  ),
                  values: [
                    proposal.operation,
                    describeCounts(proposal),
                    proposal.proposer,
                    <Value key="at" column={TIME} value={proposal.created_at} />,
                    proposal.decided_by ?? 'none',
                  ],
                }))}
              />
              {total > LIMIT && (
                <div className="pager">
                  <p>
                    Page {page} of {Math.ceil(total / LIMIT)}
                  </p>
                  <div className="buttons">
                    <Button isDisabled={page === 1} onPress={() => goTo(page - 1)}>
                      Previous
                    </Button>
                    <Button isDisabled={page * LIMIT >= total} onPress={() => goTo(page + 1)}>
                      Next
                    </Button>
                  </div>
                </div>
              )}
            </>
          )
        }
      </Loaded>
    </div>
  )
}
