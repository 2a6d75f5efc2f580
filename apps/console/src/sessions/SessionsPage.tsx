import type { Output } from '@resource/client'
import { useQuery } from '@tanstack/react-query'
import { LogOut } from 'lucide-react'
import { useState } from 'react'
import { whoOf } from '../audit/entries.ts'
import { client } from '../client.ts'
import { queryClient } from '../query-client.ts'
import { logOut, useSession } from '../session/session.ts'
import { Ago, distance } from '../ui/Ago.tsx'
import { Button } from '../ui/Button.tsx'
import { errorMessage, formatCount } from '../ui/format.ts'
import { ListTable } from '../ui/ListTable.tsx'
import { Loaded } from '../ui/Loaded.tsx'
import { notify } from '../ui/notices.ts'
import { useTitle } from '../ui/title.ts'

type Listed = Output<'sessions', 'list'>['sessions'][number]

const COLUMNS: [string][] = [['Browser'], ['Address'], ['Who'], ['Role'], ['Since'], ['Last use'], ['Ends']]
const KEY = ['sessions', 'list']
const LIMIT = 1000
const AGES_MS = 60_000
const NOUN = { one: 'session', many: 'sessions' }

/** Who is logged in to the console, and where: for administrators everybody, for others their own sessions. */
export default function SessionsPage() {
  useTitle('Sessions')
  const name = useSession(({ session }) => session?.name)
  const [isEnding, setEnding] = useState(false)
  const query = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => client.sessions.list.query({ limit: LIMIT }, { signal }),
    refetchInterval: AGES_MS,
  })
  const end = async (ended: Listed[]) => {
    if (ended.some(({ current }) => current)) return await logOut()
    setEnding(true)
    try {
      for (const { id } of ended) await client.sessions.end.mutate({ id })
      notify('done', `${formatCount(ended.length, NOUN)} ended`)
    } catch (error) {
      notify('failed', errorMessage(error))
    }
    setEnding(false)
    await queryClient.invalidateQueries({ queryKey: KEY })
  }
  return (
    <div className="page" aria-busy={query.isFetching}>
      <Loaded query={query} title="The sessions cannot be loaded" waiting="Loading the sessions…">
        {({ sessions }) => {
          const others = sessions.filter(({ actor, current }) => actor === name && !current)
          return (
            <>
              <div className="row page-head">
                <h1>
                  Sessions <span className="count">{sessions.length.toLocaleString('en')}</span>
                </h1>
                <div className="buttons">
                  {others.length > 0 && (
                    <Button className="button" icon={LogOut} isDisabled={isEnding} onPress={() => void end(others)}>
                      Log out everywhere else
                    </Button>
                  )}
                </div>
              </div>
              {sessions.length === 0 ? (
                <div className="empty">
                  <h2>No sessions</h2>
                  <p>A login starts a session. It ends by log-out, and if it is not used for long.</p>
                </div>
              ) : (
                <SessionTable sessions={sessions} isEnding={isEnding} onEnd={(session) => void end([session])} />
              )}
            </>
          )
        }}
      </Loaded>
    </div>
  )
}

interface Props {
  sessions: Listed[]
  isEnding: boolean
  onEnd: (session: Listed) => void
}

function SessionTable({ sessions, isEnding, onEnd }: Props) {
  return (
    <ListTable label="Sessions" columns={COLUMNS}>
      {sessions.map((session) => {
        const { id, actor, actor_detail, role, browser, address, current, created_at, last_used_at } = session
        return (
          <tr key={id} className={current ? 'live' : undefined}>
            <th scope="row" className="name at-name">
              <bdi translate="no">{browser ?? 'Unknown'}</bdi>
              {current && <span className="badge note">this session</span>}
            </th>
            <td className="faint" translate="no">
              {address}
            </td>
            <td className="at-rest" translate="no" title={[actor, actor_detail].filter(Boolean).join(', ')}>
              <bdi>{whoOf(session)}</bdi>
              <span className="only-phone"> · {address}</span>
            </td>
            <td className="only-large">{role}</td>
            <td className="when only-large">
              <Ago at={created_at} />
            </td>
            <td className="when at-when">{current ? 'now' : <Ago at={last_used_at} />}</td>
            <td className="when only-large">{distance(Date.parse(session.expires_at) - Date.now())}</td>
            <td className="tight end at-figure">
              <span className="row row-actions">
                <Button
                  className="button ghost small to-danger"
                  aria-label={current ? 'Log out of this session' : `Log out session ${id} of ${actor}`}
                  isDisabled={isEnding}
                  onPress={() => onEnd(session)}
                >
                  Log out
                </Button>
              </span>
            </td>
          </tr>
        )
      })}
    </ListTable>
  )
}
