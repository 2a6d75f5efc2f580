import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'

/** Says that there is no network, for as long as there is none. */
export function OfflineBar() {
  const isOnline = useSyncExternalStore(
    (changed) => onlineManager.subscribe(changed),
    () => onlineManager.isOnline(),
  )
  return (
    <div role="status" className="offline" hidden={isOnline}>
      {!isOnline && 'You are offline. What was loaded stays readable; changes cannot be saved until you are back.'}
    </div>
  )
}
