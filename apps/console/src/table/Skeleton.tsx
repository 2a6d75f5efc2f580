const LINES = Array.from({ length: 12 }, (_, index) => index)

/** A picture of a table while its rows load, in their final height. */
export function Skeleton({ many }: { many: string }) {
  return (
    <div role="status" className="skeleton bleed">
      <span className="hidden">Loading {many}…</span>
      {LINES.map((line) => (
        <div key={line} aria-hidden="true">
          <i />
          <i />
          <i />
        </div>
      ))}
    </div>
  )
}
