import { ArrowRight } from 'lucide-react'
import type { Preview } from '../resources/calls.ts'
import { isChanged } from '../resources/describe-change.ts'
import { resources } from '../resources/index.ts'
import type { Resource } from '../resources/resource.ts'
import { Value } from '../resources/Value.tsx'
import { decimalsOf, formatNumber } from '../resources/value-text.ts'
import { columnsOf, type RecordChange, type ShownColumn } from './columns.ts'

/** The only field that changes of records of one resource set. */
export interface Only {
  resource: Resource
  column: ShownColumn
}

/** The field that changes set, if it is the same in all of them and the only one. */
export function onlyField(changes: RecordChange[]): Only | undefined {
  const noun = changes[0]?.resource ?? ''
  const resource = resources.find((resource) => resource.noun === noun)
  const [column, ...others] = columnsOf(noun, changes).filter((column) =>
    changes.some(({ before, after }) => isChanged(column, before, after)),
  )
  const isOnly = changes.every(({ resource, before, after }) => resource === noun && before !== null && after !== null)
  return resource !== undefined && column !== undefined && others.length === 0 && isOnly
    ? { resource, column }
    : undefined
}

interface FiguresProps {
  preview: Pick<Preview, 'created' | 'updated' | 'deleted' | 'steps'> & { changes: RecordChange[] }
  /** The number of records that the change is for, some of which may stay as they are. */
  total?: number
  /** Whether the change was made. */
  isDone?: boolean
}

/** How many records a change creates, changes and deletes, and what it does to the mean of a number. */
export function Figures({
  preview: { created, updated, deleted, steps, changes },
  total = 0,
  isDone = false,
}: FiguresProps) {
  const count = created + updated + deleted
  const only = onlyField(changes)
  const parts = [
    [created, isDone ? 'created' : 'to create'],
    [updated, isDone ? 'changed' : 'to change'],
    [deleted, isDone ? 'deleted' : 'to delete'],
    [Math.max(0, total - count), 'stay the same'],
  ] as const
  return (
    <ul className="figures">
      {parts.map(
        ([number, text]) =>
          number > 0 && (
            <li key={text}>
              <b>{number.toLocaleString('en')}</b> {text}
            </li>
          ),
      )}
      {only !== undefined && isAmount(only.column) && steps === undefined && (
        <Mean column={only.column} changes={changes} isCut={changes.length < count} />
      )}
    </ul>
  )
}

interface MeanProps {
  column: ShownColumn
  changes: RecordChange[]
  /** Whether these are only the first ones. */
  isCut: boolean
}

function Mean({ column: { field, decimals }, changes, isCut }: MeanProps) {
  const mean = (side: 'before' | 'after') => {
    const sum = changes.reduce((sum, change) => sum + Number(change[side]?.[field] ?? 0), 0)
    // A sum of binary numbers is slightly off.
    return formatNumber(Number((sum / changes.length).toPrecision(12)), decimals, decimals)
  }
  return (
    <li>
      mean{isCut && ` of the first ${changes.length}`} <b>{mean('before')}</b> <Arrow /> <b>{mean('after')}</b>
    </li>
  )
}

function Arrow() {
  return (
    <>
      <ArrowRight />
      <span className="hidden">→</span>
    </>
  )
}

interface DifferencesProps {
  only: Only
  changes: RecordChange[]
  /** Whether the values before may no longer be those of now. */
  isPast: boolean
}

/** The values of one field before and after, with the difference of numbers. */
export function Differences({ only: { resource, column }, changes, isPast }: DifferencesProps) {
  const { label, field } = column
  const name = resource.recordColumns.find(({ field }) => field === resource.nameField) ?? column
  const values = changes.flatMap(({ before, after }) => [before?.[field], after?.[field]])
  const isNumber = isAmount(column)
  const decimals = isNumber ? decimalsOf(values, column.decimals) : 0
  return (
    <table className={isNumber ? 'table differences number' : 'table differences'}>
      <caption className="hidden">Before and after</caption>
      <thead>
        <tr>
          <th scope="col">ID</th>
          <th scope="col">{name.label}</th>
          <th scope="col">{`${label} ${isPast ? 'before' : 'now'}`}</th>
          <td />
          <th scope="col">{label} after</th>
          {isNumber && <th scope="col">Difference</th>}
        </tr>
      </thead>
      <tbody>
        {changes.map(({ before, after }) => (
          <tr key={String(before?.id)}>
            <td className="id">{String(before?.id)}</td>
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
  )
}

/** Whether a field counts or measures something. The id of another record does not. */
export function isAmount({ kind, refersTo }: ShownColumn): boolean {
  return kind === 'number' && refersTo === undefined
}

/** `+2.70`; nothing without a number before. */
function difference(before: unknown, after: unknown, decimals: number): string {
  if (typeof before !== 'number' || typeof after !== 'number') return ''
  return `${after > before ? '+' : ''}${formatNumber(after - before, decimals, decimals)}`
}
