import { Button } from './Button.tsx'

interface Props {
  one: string
  many: string
  onShowAll: () => void
}

/** Replaces a record that does not exist, and offers the list. */
export function Missing({ one, many, onShowAll }: Props) {
  return (
    <div className="state">
      <h2>This {one} does not exist</h2>
      <p>It was deleted, or the link is mistyped.</p>
      <Button className="button primary" onPress={onShowAll} autoFocus>
        Show all {many}
      </Button>
    </div>
  )
}
