import { type Connection, useLive } from '../table/live.ts'

const TEXTS: Record<Connection, string> = {
  off: '',
  live: 'Live',
  reconnecting: 'Reconnecting…',
  stale: 'Not live: changes by others may be missing',
}

/** Whether the page follows the changes of others. */
export function LiveStatus() {
  const connection = useLive(({ connection }) => connection)
  return (
    <span role="status" className={`live-status ${connection}`} title={TEXTS[connection]}>
      <span>{TEXTS[connection]}</span>
    </span>
  )
}
