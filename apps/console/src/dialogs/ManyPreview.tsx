import { ArrowRight } from 'lucide-react'
import { useState } from 'react'
import { PreviewedChanges } from '../changes/Changes.tsx'
import type { Preview } from '../resources/calls.ts'
import type { BulkAction, Column, Resource } from '../resources/resource.ts'
import { Value } from '../resources/Value.tsx'
import { decimalsOf, formatNumber } from '../resources/value-text.ts'
import { Button } from '../ui/Button.tsx'

interface Props {
  resource: Resource
  action: BulkAction
  preview: Preview
  /** The number of records that the action is for. */
  total: number
}

const SHOWN = 7

/** What an action would do: the number of records, and the first of them before and after. */
export function ManyPreview({ resource, action, preview, total }: Props) {
  const count = preview.updated + preview.deleted
  const { changes, amounts } = action
  const [field, ...others] = Object.keys(changes ?? amounts?.add ?? amounts?.multiply ?? {})
  const column = resource.recordColumns.find((column) => column.field === field)
  if (count === 0) return <p role="status">Nothing would change.</p>
  const isWhole = preview.changes.length === count && preview.steps === undefined
  return (
    <>
      <div role="status">
        <ul className="figures">
          <li>
            <b>{count.toLocaleString('en')}</b> {preview.deleted > 0 ? 'deleted' : 'change'}
          </li>
          {count < total && (
            <li>
              <b>{(total - count).toLocaleString('en')}</b> stay the same
            </li>
          )}
          {column?.kind === 'number' && isWhole && <Mean column={column} preview={preview} />}
        </ul>
      </div>
      {column === undefined || others.length > 0 ? (
        <PreviewedChanges preview={preview} />
      ) : (
        <Differences resource={resource} column={column} preview={preview} count={count} />
      )}
    </>
  )
}

function Mean({ column: { field, decimals }, preview: { changes } }: { column: Column; preview: Preview }) {
  const mean = (side: 'before' | 'after') => {
    const sum = changes.reduce((sum, change) => sum + Number(change[side]?.[field] ?? 0), 0)
    // A sum of binary numbers is slightly off.
    return formatNumber(Number((sum / changes.length).toPrecision(12)), decimals, decimals)
  }
  return (
    <li>
      mean <b>{mean('before')}</b> <Arrow /> <b>{mean('after')}</b>
    </li>
  )
}

function Arrow() {
  return (
    <>
      <ArrowRight className="i" aria-hidden="true" />
      <span className="hidden">→</span>
    </>
  )
}

interface DifferencesProps {
  resource: Resource
  column: Column
  preview: Preview
  count: number
}

function Differences({ resource, column, preview: { changes }, count }: DifferencesProps) {
  const [isLong, setLong] = useState(false)
  const { label, kind, field } = column
  const name = resource.recordColumns.find(({ field }) => field === resource.nameField) ?? column
  const shown = isLong ? changes : changes.slice(0, SHOWN)
  const values = shown.flatMap(({ before, after }) => [before?.[field], after?.[field]])
  const decimals = kind === 'number' ? decimalsOf(values, column.decimals) : 0
  const isNumber = kind === 'number'
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
      <section className="scroll framed" aria-label="Preview" tabIndex={0}>
        <table className={isNumber ? 'table differences number' : 'table differences'}>
          <caption className="hidden">Before and after</caption>
          <thead>
            <tr>
              <th scope="col">ID</th>
              <th scope="col">{name.label}</th>
              <th scope="col">{label} now</th>
              <td />
              <th scope="col">{label} after</th>
              {isNumber && <th scope="col">Difference</th>}
            </tr>
          </thead>
          <tbody>
            {shown.map(({ id, before, after }) => (
              <tr key={id}>
                <td className="id">{id}</td>
                <th scope="row">
                  <Value column={name} value={before?.[name.field]} />
                </th>
                <td className="before">
                  <Value column={column} value={before?.[field]} decimals={decimals} />
                </td>
                <td className="arrow">
                  <Arrow />
                </td>
                <td className="after">
                  <Value column={column} value={after?.[field]} decimals={decimals} />
                </td>
                {isNumber && <td className="id">{difference(before?.[field], after?.[field], decimals)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
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

/** `+2.70`; nothing without a number before. */
function difference(before: unknown, after: unknown, decimals: number): string {
  if (typeof before !== 'number' || typeof after !== 'number') return ''
  return `${after > before ? '+' : ''}${formatNumber(after - before, decimals, decimals)}`
}
