import type { Resource } from '../resources/resource.ts'
import { Button } from './Button.tsx'

interface Props {
  resource: Resource
  onShowAll: () => void
}

/** Replaces a record that does not exist, and offers the list. */
export function Missing({ resource, onShowAll }: Props) {
  return (
    <div className="state">
      <h2>This {resource.one} does not exist</h2>
      <p>It was deleted, or the link is mistyped.</p>
      <Button className="button primary" onPress={onShowAll} autoFocus>
        Show all {resource.many}
      </Button>
    </div>
  )
}
