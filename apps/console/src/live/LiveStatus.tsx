import { type Connection, useLive } from '../table/live.ts'

const STATES: Record<Connection, [dot: string, text: string]> = {
  off: ['', ''],
  live: ['live', 'Live'],
  reconnecting: ['warning', 'Reconnecting…'],
  stale: ['danger', 'Not live: changes by others may be missing'],
}

/** Whether the page follows the changes of others. */
export function LiveStatus() {
  const connection = useLive(({ connection }) => connection)
  const [dot, text] = STATES[connection]
  return (
    <span role="status" className={`status live-status ${connection}`} title={text}>
      {dot !== '' && <span className={`dot ${dot}`} />}
      <span>{text}</span>
    </span>
  )
}
