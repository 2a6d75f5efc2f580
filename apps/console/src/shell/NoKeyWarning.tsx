import { useSession } from '../session/session.ts'

/** Warns while the service has no API key. */
export function NoKeyWarning() {
  const { session } = useSession()
  const isOpen = session?.name === 'anonymous'
  return (
    <div role="status" className="no-key-warning" hidden={!isOpen}>
      {isOpen && (
        <>
          No API key exists: anyone who can reach this port can read, write and delete everything. Set a key: run{' '}
          <code>resource keys create --name operator --role admin</code>.
        </>
      )}
    </div>
  )
}
