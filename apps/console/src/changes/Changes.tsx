import { useState } from 'react'
import type { Preview } from '../resources/calls.ts'
import { isChanged } from '../resources/describe-change.ts'
import { resources } from '../resources/index.ts'
import { Value } from '../resources/Value.tsx'
import { Button } from '../ui/Button.tsx'
import { columnsOf, type RecordChange, type ShownColumn } from './columns.ts'
import { Differences, isAmount, onlyField } from './Differences.tsx'

const SHOWN = 7

/** The first changes of a preview, and the number of the others. */
export function PreviewedChanges({
  label = 'Preview',
  isPast = false,
  preview: { created, updated, deleted, changes },
}: {
  label?: string
  /** Whether the changes were made, or will not be. */
  isPast?: boolean
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
        {only === undefined ? <Changes changes={shown} /> : <Differences only={only} changes={shown} isPast={isPast} />}
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

/** On a narrow screen, the values of a record stand below each other, each next to its title. */
function ChangesOf({ noun, changes, isAlone }: { noun: string; changes: RecordChange[]; isAlone: boolean }) {
  const resource = resources.find((resource) => resource.noun === noun)
  const nameField = resource?.nameField ?? 'name'
  const columns = columnsOf(noun, changes)
  const name = columns.find(({ field }) => field === nameField) ?? columns[0]
  const isShown = (column: ShownColumn) => changes.some(({ before, after }) => isChanged(column, before, after))
  const isKnown = changes.some(({ before, after }) => (after ?? before)?.id != null)
  const shown = [
    ...columns.filter((column) => column !== name && column.field === 'id' && isKnown),
    ...(name === undefined ? [] : [name]),
    ...columns.filter((column) => column !== name && column.field !== 'id' && isShown(column)),
  ]
  return (
    <table className="table values">
      <caption className={isAlone ? 'hidden' : ''}>{resource?.title ?? noun}</caption>
      <thead>
        <tr>
          {shown.map((column) => (
            <th key={column.field} scope="col" className={placeOf(column)}>
              {column.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {changes.map((change) => (
          <tr key={String((change.after ?? change.before)?.id ?? changes.indexOf(change))}>
            {shown.map((column) =>
              column === name ? (
                <th key={column.field} scope="row">
                  <Difference column={column} change={change} />
                </th>
              ) : (
                <td key={column.field} data-label={column.label} className={placeOf(column)}>
                  <div>
                    <Difference column={column} change={change} />
                  </div>
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function placeOf(column: ShownColumn): string | undefined {
  if (column.field === 'id') return 'tight end id'
  return isAmount(column) ? 'end' : undefined
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
