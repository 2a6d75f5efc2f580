import type { ReactNode } from 'react'
import { Difference } from './Changes.tsx'
import type { RecordChange, ShownColumn } from './columns.ts'

/** A line of a list with the class `diff`. */
export function DiffRow({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** A line for each field: its value before and after a change. */
export function DiffRows({
  columns,
  change,
}: {
  columns: ShownColumn[]
  change: Pick<RecordChange, 'before' | 'after'>
}) {
  return columns.map((column) => (
    <DiffRow key={column.field} label={column.label.toLowerCase()}>
      <Difference column={column} change={change} />
    </DiffRow>
  ))
}
