const UNITS = [
  ['year', 365 * 24 * 60 * 60],
  ['month', 30 * 24 * 60 * 60],
  ['day', 24 * 60 * 60],
  ['hour', 60 * 60],
  ['minute', 60],
] as const
const words = new Intl.RelativeTimeFormat('en', { style: 'short', numeric: 'auto' })
const exact = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' })

/** A time as `4 min. ago` or `in 6 days`, with the exact one as its tooltip. In a narrow column it is `4 min`. */
export function Ago({ at, isShort = false }: { at: string; isShort?: boolean }) {
  const time = new Date(at)
  const text = distance(time.getTime() - Date.now())
  return (
    <time dateTime={at} title={exact.format(time)}>
      {isShort ? text.replace(/\.? ago$/, '').replace(/ hr$/, ' h') : text}
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
