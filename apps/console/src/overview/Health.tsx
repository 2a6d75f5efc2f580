import { useQuery } from '@tanstack/react-query'
import { HEALTH, useHealth } from '../shell/service.ts'

const REFRESH_MS = 10_000
const HOUR_MS = 60 * 60 * 1000

/** The answer of `/console/status`. */
interface Status {
  database: string
  started_at: string
  requests: number[]
  errors: number
  p99_ms: number | null
}

/** The health of the service in one line. Figures show only to those who may read them. */
export function Health() {
  const { dot, text } = HEALTH[useHealth()]
  const { data } = useQuery({
    queryKey: ['status'],
    queryFn: async ({ signal }): Promise<Status | null> => {
      const response = await fetch('/console/status', { signal })
      return response.ok ? response.json() : null
    },
    refetchInterval: REFRESH_MS,
  })
  return (
    <p className="health">
      <span className="status">
        <span className={`dot ${dot}`} />
        <b>{text}</b>
      </span>
      {data && <Figures status={data} />}
    </p>
  )
}

function Figures({ status: { database, started_at, requests, errors, p99_ms } }: { status: Status }) {
  const rate = requests.reduce((sum, count) => sum + count, 0) / requests.length
  return (
    <>
      <span>
        <b>{digits(rate)}</b> requests/s
      </span>
      {p99_ms !== null && (
        <span title="99 of 100 calls of the last hour took no longer">
          p99 <b>{digits(p99_ms)} ms</b>
        </span>
      )}
      <span>
        <b>{errors.toLocaleString('en')}</b> {errors === 1 ? 'error' : 'errors'} in the last hour
      </span>
      <span translate="no">{database}</span>
      <span>
        up <b>{duration(Date.now() - Date.parse(started_at))}</b>
      </span>
    </>
  )
}

/** `0.4`, `42`: small figures with one decimal. */
function digits(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })
}

/** `3 d 4 h`, `4 h 10 min`, `0 min`. */
function duration(ms: number): string {
  const [hours, minutes] = [Math.floor(ms / HOUR_MS), Math.floor(ms / 60_000) % 60]
  if (hours >= 24) return `${Math.floor(hours / 24)} d ${hours % 24} h`
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min`
}
