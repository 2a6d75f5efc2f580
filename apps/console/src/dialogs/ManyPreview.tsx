import { Changes } from '../changes/Changes.tsx'
import type { Preview } from '../resources/calls.ts'
import type { BulkAction, Resource } from '../resources/resource.ts'
import { formatCount } from '../ui/format.ts'

interface Props {
  resource: Resource
  action: BulkAction
  preview: Preview
  /** Which records: ` with category kitchen, on all pages,`. */
  filters: string
}

/** What an action would do: the number of records, and the first of them before and after. */
export function ManyPreview({ resource, action, preview, filters }: Props) {
  const { updated, deleted, changes } = preview
  const count = updated + deleted
  if (count === 0) return <p role="status">Nothing would change.</p>
  const more = count - changes.length
  return (
    <>
      <p role="status">
        <strong>{formatCount(count, resource)}</strong>
        {filters} will be {action.done}
        {action.summary && ` (${action.summary})`}. You can undo this.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <section className="scroll" aria-label="Preview" tabIndex={0}>
        <Changes changes={changes} />
        {more > 0 && <p className="hint">and {more.toLocaleString('en')} more</p>}
      </section>
    </>
  )
}
