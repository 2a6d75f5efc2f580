import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'

/** Warns while the browser is offline. */
export function OfflineBar() {
  const isOnline = useSyncExternalStore(
    (changed) => onlineManager.subscribe(changed),
    () => onlineManager.isOnline(),
  )
  return (
    <div role="status" className="offline" hidden={isOnline}>
      {!isOnline && 'You are offline. You can read loaded data, but not save changes until you are back online.'}
    </div>
  )
}
