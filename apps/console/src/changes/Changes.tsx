import { useState } from 'react'
import type { Preview } from '../resources/calls.ts'
import { isChanged } from '../resources/describe-change.ts'
import { resources } from '../resources/index.ts'
import { Value } from '../resources/Value.tsx'
import { Button } from '../ui/Button.tsx'
import { ValueTable } from '../ui/ValueTable.tsx'
import { columnsOf, type RecordChange, type ShownColumn } from './columns.ts'
import { Differences, onlyField } from './Differences.tsx'

const SHOWN = 7

/** The first changes of a preview, and the number of the others. */
export function PreviewedChanges({
  label = 'Preview',
  preview: { created, updated, deleted, changes },
}: {
  label?: string
  preview: Pick<Preview, 'created' | 'updated' | 'deleted'> & { changes: RecordChange[] }
}) {
  const count = created + updated + deleted
  const only = onlyField(changes)
  const [isLong, setLong] = useState(false)
  const shown = isLong ? changes : changes.slice(0, SHOWN)
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <section className="scroll framed" aria-label={label} tabIndex={0}>
        {only === undefined ? <Changes changes={shown} /> : <Differences only={only} changes={shown} />}
      </section>
      {count > shown.length && (
        <p className="faint small-text">
          {shown.length.toLocaleString('en')} of {count.toLocaleString('en')} shown.{' '}
          {shown.length < changes.length && (
            <Button className="link" onPress={() => setLong(true)}>
              Show {changes.length}
            </Button>
          )}
        </p>
      )}
    </>
  )
}

/** Records before and after changes, by noun: the name of each, and the fields that differ in one of them. */
function Changes({ changes }: { changes: RecordChange[] }) {
  const byNoun = Object.entries(Object.groupBy(changes, ({ resource }) => resource))
  return byNoun.map(([noun, own = []]) => (
    <ChangesOf key={noun} noun={noun} changes={own} isAlone={byNoun.length === 1} />
  ))
}

function ChangesOf({ noun, changes, isAlone }: { noun: string; changes: RecordChange[]; isAlone: boolean }) {
  const resource = resources.find((resource) => resource.noun === noun)
  const nameField = resource?.nameField ?? 'name'
  const [name, ...columns] = columnsOf(noun, changes).toSorted(
    (a, b) => Number(b.field === nameField) - Number(a.field === nameField),
  )
  if (name === undefined) return null
  const shown = columns.filter((column) => changes.some(({ before, after }) => isChanged(column, before, after)))
  return (
    <ValueTable
      caption={resource?.title ?? noun}
      isCaptionHidden={isAlone}
      titles={[name.label, ...shown.map(({ label }) => label)]}
      rows={changes.map((change, index) => ({
        key: index,
        name: <Difference column={name} change={change} />,
        values: shown.map((column) => <Difference key={column.field} column={column} change={change} />),
      }))}
    />
  )
}

/** A value before and after, or the value that stays. */
export function Difference({
  column,
  change: { before, after },
}: {
  column: Omit<ShownColumn, 'label'>
  change: Pick<RecordChange, 'before' | 'after'>
}) {
  const { field } = column
  const [old, value] = [before?.[field], after?.[field]]
  if (before === null || after === null || old === value) return <Value column={column} value={value ?? old} />
  return (
    <>
      <del>
        <Value column={column} value={old} />
      </del>
      <span className="arrow"> → </span>
      <ins>
        <Value column={column} value={value} />
      </ins>
    </>
  )
}
