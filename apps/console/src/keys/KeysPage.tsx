import { Plus } from 'lucide-react'
import { useState } from 'react'
import { queryClient } from '../query-client.ts'
import { logIn, useSession } from '../session/session.ts'
import { Button } from '../ui/Button.tsx'
import { formatCount } from '../ui/format.ts'
import { Loaded } from '../ui/Loaded.tsx'
import { notify } from '../ui/notices.ts'
import { useTitle } from '../ui/title.ts'
import { RevokeDialog, RotateDialog } from './KeyDialogs.tsx'
import { KeyTable } from './KeyTable.tsx'
import { endOf, type Key, type NewKey, useKeys } from './key.ts'
import { NewKeyDialog } from './NewKeyDialog.tsx'
import { SecretPanel } from './SecretPanel.tsx'

/** A dialog that is open. */
type Asked = { verb: 'new' } | { verb: 'rotate' | 'revoke'; stored: Key }

/** The keys of the service: who may use it, and since when they have. */
export default function KeysPage() {
  useTitle('Keys')
  const session = useSession(({ session }) => session)
  const [asked, ask] = useState<Asked>()
  const [shown, show] = useState<{ made: NewKey; done: 'created' | 'rotated' }>()
  const [showsEnded, setShowsEnded] = useState(false)
  const query = useKeys()
  const isOwn = ({ id }: Key) => session?.name === `key ${id}`
  const close = () => ask(undefined)
  const made = async (done: 'created' | 'rotated', key: NewKey) => {
    close()
    show({ made: key, done })
    // Without a log-in, the next request of this page would be refused.
    const isNeeded = isOwn(key) || (session?.name === 'anonymous' && key.role === 'admin')
    const failure = isNeeded ? await logIn(key.key) : undefined
    if (failure !== undefined) notify('failed', failure)
    await queryClient.invalidateQueries({ queryKey: ['keys'] })
  }
  return (
    <div className="page" aria-busy={query.isFetching}>
      <Loaded query={query} title="The keys cannot be loaded" waiting="Loading the keys…">
        {({ keys }) => {
          const valid = keys.filter((key) => endOf(key) === undefined)
          const ended = keys.length - valid.length
          const newKey = (
            <Button
              className={keys.length > 0 ? 'button' : 'button primary'}
              icon={Plus}
              onPress={() => ask({ verb: 'new' })}
            >
              New key
            </Button>
          )
          return (
            <>
              <div className="row page-head in-line">
                <h1>
                  Keys <span className="count">{valid.length.toLocaleString('en')}</span>
                </h1>
                <div className="buttons">{keys.length > 0 && newKey}</div>
              </div>
              {shown !== undefined && (
                <SecretPanel key={shown.made.version} {...shown} onStored={() => show(undefined)} />
              )}
              {keys.length === 0 ? (
                <div className="empty">
                  <h2>No key yet</h2>
                  <p>Anyone who can reach this address from the same machine can read and write everything.</p>
                  {newKey}
                </div>
              ) : (
                <KeyTable
                  keys={showsEnded ? keys : valid}
                  newest={shown?.made.id}
                  isOwn={isOwn}
                  onAsk={(verb, stored) => ask({ verb, stored })}
                />
              )}
              {ended > 0 && (
                <label className="inline small-text faint">
                  <input type="checkbox" checked={showsEnded} onChange={() => setShowsEnded(!showsEnded)} />
                  <span>
                    Show {formatCount(ended, { one: 'revoked or expired key', many: 'revoked and expired keys' })}
                  </span>
                </label>
              )}
              {asked?.verb === 'new' && (
                <NewKeyDialog
                  isFirst={session?.name === 'anonymous'}
                  onMade={(key) => void made('created', key)}
                  onClose={close}
                />
              )}
            </>
          )
        }}
      </Loaded>
      {asked?.verb === 'rotate' && (
        <RotateDialog
          stored={asked.stored}
          isOwn={isOwn(asked.stored)}
          onMade={(key) => void made('rotated', key)}
          onClose={close}
        />
      )}
      {asked?.verb === 'revoke' && (
        <RevokeDialog
          stored={asked.stored}
          isOwn={isOwn(asked.stored)}
          onClose={close}
          onDone={() => {
            close()
            notify('done', `Key “${asked.stored.name}” revoked`)
            void queryClient.invalidateQueries({ queryKey: ['keys'] })
          }}
        />
      )}
    </div>
  )
}
