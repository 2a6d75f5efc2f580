import { useIsOnline } from './service.ts'

/** Warns while the browser is offline. */
export function OfflineBar() {
  const isOnline = useIsOnline()
  return (
    <div role="status" className="offline" hidden={isOnline}>
      {!isOnline && 'You are offline. You can read loaded data, but not save changes until you are back online.'}
    </div>
  )
}
