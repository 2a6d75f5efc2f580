import { useSession } from '../session/session.ts'

/** Warns while the service has no API key. */
export function NoKeyWarning() {
  const { session } = useSession()
  const isOpen = session?.name === 'anonymous'
  const url = window.location.origin
  return (
    <div role="status" className="no-key-warning" hidden={!isOpen}>
      {isOpen && (
        <>
          No API key exists: anyone who can reach this port can read, write and delete everything. Set a key: run{' '}
          <code translate="no">{`npm run -s resource -- keys create --name operator --role admin --url ${url}`}</code>
        </>
      )}
    </div>
  )
}
