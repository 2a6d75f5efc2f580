/** The id of the hints, which describe the table. */
export const GRID_HINTS = 'grid-hints'

/** The keys of a table. */
export function GridHints({ canEdit }: { canEdit: boolean }) {
  const hints = [
    { keys: ['J', 'K'], does: 'move' },
    { keys: ['Enter'], does: 'open' },
    ...(canEdit ? [{ keys: ['F2'], does: 'edit the cell' }] : []),
    { keys: ['X'], does: 'select' },
    { keys: ['?'], does: 'all shortcuts' },
  ]
  return (
    <p id={GRID_HINTS} className="hints">
      {hints.map(({ keys, does }) => (
        <span key={does}>
          {keys.map((key) => (
            <kbd key={key}>{key}</kbd>
          ))}{' '}
          {does}
        </span>
      ))}
    </p>
  )
}
