import { contract } from '@resource/contract'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Link } from 'wouter'
import { Difference } from '../changes/Changes.tsx'
import { queryClient } from '../query-client.ts'
import { Actor } from '../record/Actor.tsx'
import { ActorSign } from '../record/ActorSign.tsx'
import { isChanged } from '../resources/describe-change.ts'
import { resources } from '../resources/index.ts'
import { useFeed } from '../table/live.ts'
import { useAllows } from '../table/permissions.ts'
import { Ago } from '../ui/Ago.tsx'
import { Loaded } from '../ui/Loaded.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { fromFeed, type Happened, readRecent, SHOWN } from './recent.ts'

const KEY = ['recent']
const REFRESH_MS = 300

/** What was done last, as it happens: administrators see who did it, from the audit log; others the feed of changes. */
export function RecentChanges() {
  const isAdmin = useAllows(contract.audit.procedures.list)
  return (
    <section aria-labelledby="recent">
      <div className="row section-head">
        <h2 id="recent">Recent changes</h2>
        {isAdmin && (
          <Link className="small-text" href="/audit">
            Audit log
          </Link>
        )}
      </div>
      {isAdmin ? <FromAuditLog /> : <FromFeed />}
    </section>
  )
}

function FromAuditLog() {
  const query = useQuery({ queryKey: KEY, queryFn: ({ signal }) => readRecent(signal) })
  useFeed(() => void queryClient.invalidateQueries({ queryKey: KEY }), { intervalMs: REFRESH_MS })
  return (
    <Loaded
      query={query}
      title="The recent changes cannot be loaded"
      waiting={<Skeleton className="of-feed" label="Loading the recent changes…" lines={SHOWN} />}
    >
      {(all) => (all.length === 0 ? <p className="faint">Nothing has changed yet.</p> : <Feed all={all} />)}
    </Loaded>
  )
}

function FromFeed() {
  const [all, setAll] = useState<Happened[]>([])
  useFeed((changes) => setAll((all) => [...changes.map(fromFeed).reverse(), ...all].slice(0, SHOWN)))
  return all.length === 0 ? <p className="faint">Changes show here as they happen.</p> : <Feed all={all} />
}

function Feed({ all }: { all: Happened[] }) {
  const [first] = useState(() => new Set(all.map(({ key }) => key)))
  return (
    <ul className="feed">
      {all.map((one) => (
        <Entry key={one.key} happened={one} isNew={!first.has(one.key)} />
      ))}
    </ul>
  )
}

function Entry({ happened, isNew }: { happened: Happened; isNew: boolean }) {
  const { who, verb, what, noun, isOne, at, before, after, id, proposer } = happened
  const resource = resources.find((resource) => resource.noun === noun)
  const isNewNow = useRef(isNew)
  const [column, ...others] =
    isOne && before !== null && after !== null
      ? (resource?.recordColumns.filter((column) => isChanged(column, before, after)) ?? [])
      : []
  return (
    <li className={isNewNow.current ? 'arriving' : undefined}>
      <ActorSign actor={who?.actor} name={who?.name ?? noun} />
      <div>
        <p>
          {who !== undefined && (
            <b>
              <bdi translate="no">{who.name}</bdi>
            </b>
          )}{' '}
          {verb}{' '}
          {resource !== undefined && isOne && after !== null ? (
            <Link href={`/${noun}/${id}`} translate="no">
              {what}
            </Link>
          ) : (
            <b translate={isOne ? 'no' : undefined}>{what}</b>
          )}
        </p>
        {column !== undefined && (
          <p className="detail">
            {column.label.toLowerCase()} <Difference column={column} change={happened} />
            {others.length > 0 &&
              ` and ${others.length === 1 ? others[0]?.label.toLowerCase() : `${others.length} more`}`}
          </p>
        )}
        {proposer !== undefined && (
          <p className="detail">
            proposed by <Actor actor={proposer} />
          </p>
        )}
      </div>
      <Ago at={at} isShort />
    </li>
  )
}
