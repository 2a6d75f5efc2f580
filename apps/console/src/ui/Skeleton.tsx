interface Props {
  /** What loads, for screen readers. */
  label: string
  /** The number of lines. */
  lines: number
  /** The number of values in a line. */
  values?: number
  className?: string
}

/** A picture of lines while they load, in their final height. */
export function Skeleton({ label, lines, values = 3, className = '' }: Props) {
  return (
    <div role="status" className={`skeleton ${className}`}>
      <span className="hidden">{label}</span>
      {places(lines).map((line) => (
        <div key={line} aria-hidden="true">
          {places(values).map((value) => (
            <i key={value} />
          ))}
        </div>
      ))}
    </div>
  )
}

function places(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}
