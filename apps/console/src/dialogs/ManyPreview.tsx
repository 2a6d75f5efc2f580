import { Input, Label, TextField } from 'react-aria-components'
import type { Preview } from '../resources/calls.ts'
import type { BulkAction, Column, Resource, Row } from '../resources/resource.ts'
import { Value } from '../resources/Value.tsx'
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
  const own = changes.filter((change) => change.resource === resource.noun)
  if (count === 0) return <p role="status">Nothing would change.</p>
  const canUndo = isChange(action) && count <= MAX_UNDONE
  const more = count - own.length
  return (
    <>
      <p role="status">
        <strong>{formatCount(count, resource)}</strong>
        {filters} will be {action.done}
        {action.summary && ` (${action.summary})`}.{!canUndo && ' You cannot undo this.'}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <section className="scroll" aria-label="Preview" tabIndex={0}>
        <Changes resource={resource} changes={own} />
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

/** The name of each record, and its changed fields before and after; of deleted records all columns. */
function Changes({ resource, changes }: { resource: Resource; changes: Preview['changes'] }) {
  const { nameField, columns, recordColumns } = resource
  const differs = ({ field, kind }: Column) =>
    kind !== 'time' && changes.some(({ before, after }) => after !== null && before?.[field] !== after[field])
  const changed = recordColumns.filter(differs)
  const name = recordColumns.filter(({ field }) => field === nameField && !changed.some((one) => one.field === field))
  const shown: { title: string; column: Column; of: (change: Preview['changes'][number]) => Row | null }[] =
    changed.length === 0
      ? columns.map((column) => ({ title: column.label, column, of: ({ before }) => before }))
      : [
          ...name.map((column) => ({ title: column.label, column, of: ({ before }: Change) => before })),
          ...changed.flatMap((column) => [
            { title: column.label, column, of: ({ before }: Change) => before },
            { title: `New ${column.label.toLowerCase()}`, column, of: ({ after }: Change) => after },
          ]),
        ]
  return (
    <table className="plain">
      <thead>
        <tr>
          {shown.map(({ title }) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {changes.map((change) => (
          <tr key={change.before?.id}>
            {shown.map(({ title, column, of }) => (
              <td key={title}>
                <Value column={column} value={of(change)?.[column.field]} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

type Change = Preview['changes'][number]
