import { Input, Label, TextField } from 'react-aria-components'
import { Changes } from '../changes/Changes.tsx'
import type { Preview } from '../resources/calls.ts'
import type { BulkAction, Resource } from '../resources/resource.ts'
import { MAX_UNDONE } from '../table/bulk.ts'
import { isChange } from '../table/write.ts'
import { formatCount } from '../ui/format.ts'

interface Props {
  resource: Resource
  action: BulkAction
  preview: Preview
  /** Which records: ` with category kitchen, on all pages,`. */
  filters: string
  /** The words to type before a deletion of all matching records. */
  confirmation: { words: string; value: string; onChange: (text: string) => void } | undefined
}

/** What an action would do: the number of records, and the first of them before and after. */
export function ManyPreview({ resource, action, preview, filters, confirmation }: Props) {
  const { updated, deleted, changes } = preview
  const count = updated + deleted
  if (count === 0) return <p role="status">Nothing would change.</p>
  const canUndo = isChange(action) && count <= MAX_UNDONE
  const more = count - changes.length
  return (
    <>
      <p role="status">
        <strong>{formatCount(count, resource)}</strong>
        {filters} will be {action.done}
        {action.summary && ` (${action.summary})`}.{!canUndo && ' You cannot undo this.'}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <section className="scroll" aria-label="Preview" tabIndex={0}>
        <Changes changes={changes} />
        {more > 0 && <p className="hint">and {more.toLocaleString('en')} more</p>}
      </section>
      {confirmation !== undefined && (
        <TextField
          className="field"
          value={confirmation.value}
          onChange={confirmation.onChange}
          autoComplete="off"
          autoFocus
        >
          <Label className="label">
            Type <code translate="no">{confirmation.words}</code> to confirm
          </Label>
          <Input translate="no" />
        </TextField>
      )}
    </>
  )
}
