import { PreviewedChanges } from '../changes/Changes.tsx'
import type { Preview } from '../resources/calls.ts'
import type { BulkAction, Resource } from '../resources/resource.ts'
import { formatCount } from '../ui/format.ts'

interface Props {
  resource: Resource
  action: BulkAction
  preview: Preview
  /** Which records: ` with category kitchen, on all pages,`. */
  filters: string
  isProposing: boolean
}

/** What an action would do: the number of records, and the first of them before and after. */
export function ManyPreview({ resource, action, preview, filters, isProposing }: Props) {
  const count = preview.updated + preview.deleted
  if (count === 0) return <p role="status">Nothing would change.</p>
  return (
    <>
      <p role="status">
        <strong>{formatCount(count, resource)}</strong>
        {filters} will be {action.done}
        {action.summary && ` (${action.summary})`}. {isProposing ? 'Others decide on it.' : 'You can undo this.'}
      </p>
      <PreviewedChanges preview={preview} />
    </>
  )
}
