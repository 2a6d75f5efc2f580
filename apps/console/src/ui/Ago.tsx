const UNITS = [
  ['year', 365 * 24 * 60 * 60],
  ['month', 30 * 24 * 60 * 60],
  ['day', 24 * 60 * 60],
  ['hour', 60 * 60],
  ['minute', 60],
] as const
const words = new Intl.RelativeTimeFormat('en', { style: 'short', numeric: 'auto' })
const exact = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' })

/** A time as `4 min. ago` or `in 6 days`, with the exact one as its tooltip. */
export function Ago({ at }: { at: string }) {
  const time = new Date(at)
  return (
    <time dateTime={at} title={exact.format(time)}>
      {distance(time.getTime() - Date.now())}
    </time>
  )
}

/** `4 min. ago`, `just now`, `in 6 days`. */
export function distance(ms: number): string {
  const seconds = ms / 1000
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? []
  if (unit === undefined || length === undefined) return 'just now'
  return words.format(Math.trunc(seconds / length), unit)
}
