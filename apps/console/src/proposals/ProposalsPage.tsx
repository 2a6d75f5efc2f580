import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ChevronLeft } from 'lucide-react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { client } from '../client.ts'
import { Actor } from '../record/Actor.tsx'
import { Ago } from '../ui/Ago.tsx'
import { Button } from '../ui/Button.tsx'
import { Loaded } from '../ui/Loaded.tsx'
import { useTitle } from '../ui/title.ts'
import { ProposalDetail } from './ProposalDetail.tsx'
import { STATUSES, titleOf } from './proposal.ts'
import { useProposal } from './use-proposal.ts'

const LIMIT = 50

/**
 * The proposals with a status, newest first, and one of them next to the list. On a narrow screen each has the page to itself.
 * The status is that of the proposal, also once it is decided.
 *
 * @param id the proposal that the page is of; without one, a wide screen shows the first
 */
export default function ProposalsPage({ id }: { id?: number }) {
  useTitle(id === undefined ? 'Proposals' : `Proposal ${id}`)
  const [search, setSearch] = useSearchParams()
  const [, navigate] = useLocation()
  const opened = useProposal(id)
  const chosen = STATUSES.find((status) => status === search.get('status')) ?? 'open'
  const status = opened.data?.status ?? chosen
  const page = status === chosen ? Math.max(1, Math.floor(Number(search.get('page'))) || 1) : 1
  const input = { status, page, limit: LIMIT, count: true }
  const query = useQuery({
    queryKey: ['proposals', 'list', input],
    queryFn: ({ signal }) => client.proposals.list.query(input, { signal }),
    placeholderData: keepPreviousData,
    enabled: !opened.isLoading,
  })
  const total = query.data?.total ?? 0
  const place = new URLSearchParams({ status, ...(page > 1 && { page: String(page) }) })
  const goTo = (page: number) => setSearch({ status, page: String(page) })
  return (
    <div className="page" aria-busy={query.isFetching}>
      <div className="row page-head">
        <h1>
          Proposals{' '}
          {query.data !== undefined && !query.isPlaceholderData && (
            <span className="count">{`${total.toLocaleString('en')} ${status}`}</span>
          )}
        </h1>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs */}
        <div className="segments" role="group" aria-label="Status">
          {STATUSES.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === status}
              onClick={() => navigate(`/proposals?status=${name}`)}
            >
              {name.replace(/^./, (letter) => letter.toUpperCase())}
            </button>
          ))}
        </div>
      </div>
      <Loaded query={query} title="The proposals cannot be loaded" waiting="Loading the proposals…">
        {({ proposals }) => {
          const shown = id ?? proposals[0]?.id
          return (
            <div className="split-view">
              <div className={id === undefined ? 'list' : 'list only-large'}>
                {proposals.length === 0 && (
                  <div className="empty">
                    <h2>No proposal is {status}</h2>
                    <p>A key with the role proposer proposes writes, which others apply or reject here.</p>
                  </div>
                )}
                <ul aria-label="Proposals">
                  {proposals.map((proposal) => (
                    <li key={proposal.id}>
                      <Link
                        href={`/proposals/${proposal.id}?${place}`}
                        aria-current={proposal.id === shown ? 'true' : undefined}
                      >
                        <b>{titleOf(proposal)}</b>
                        <bdi className="reason" translate="no">
                          {proposal.reason}
                        </bdi>
                        <small>
                          <Actor actor={proposal.proposer} />
                          <Ago at={proposal.created_at} />
                          {proposal.decided_by !== null && (
                            <span>
                              {status} by <Actor actor={proposal.decided_by} />
                            </span>
                          )}
                        </small>
                      </Link>
                    </li>
                  ))}
                </ul>
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
              </div>
              {shown !== undefined && (
                <div className={id === undefined ? 'detail only-large' : 'detail'}>
                  <p className="row crumbs only-small">
                    <Link href={`/proposals?${place}`}>
                      <ChevronLeft />
                      Proposals
                    </Link>
                  </p>
                  <ProposalDetail key={shown} id={shown} />
                </div>
              )}
            </div>
          )
        }}
      </Loaded>
    </div>
  )
}
