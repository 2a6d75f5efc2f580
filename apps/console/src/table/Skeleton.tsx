const LINES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

/** A picture of a table while its rows load. */
export function Skeleton({ many }: { many: string }) {
  return (
    <div role="status" className="skeleton">
      <span className="hidden">Loading {many}…</span>
      {LINES.map((line) => (
        <div key={line} aria-hidden="true" />
      ))}
    </div>
  )
}
