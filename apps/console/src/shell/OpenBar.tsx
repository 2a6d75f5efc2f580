import { useSession } from '../session/session.ts'

/** Warns while the service has no API key. */
export function OpenBar() {
  const { session } = useSession()
  const isOpen = session?.name === 'anonymous'
  return (
    <div role="status" className="open-service" hidden={!isOpen}>
      {isOpen && (
        <>
          No API key exists: anyone who can reach this port can read, write and delete everything. To change that, run{' '}
          <code>resource keys create --name operator --role admin</code>.
        </>
      )}
    </div>
  )
}
