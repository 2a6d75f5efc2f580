import { Copy } from 'lucide-react'
import { Link } from 'wouter'
import { type Column, isId, type Resource, type Row } from '../resources/resource.ts'
import { Value } from '../resources/Value.tsx'
import type { Mark } from '../table/live.ts'
import { distance } from '../ui/Ago.tsx'
import { Button } from '../ui/Button.tsx'
import { copy } from '../ui/copy.ts'

interface Props {
  resource: Resource
  row: Row
  /** What others just did to the record. */
  mark: Mark | undefined
}

/** All fields of a record. The version stands below its title. */
export function Facts({ resource, row, mark }: Props) {
  return (
    <section className="in-facts" aria-label="Fields">
      <dl className={`facts ${mark?.kind ?? ''}`}>
        {resource.recordColumns
          .filter(({ field }) => field !== 'version')
          .map((column) => (
            <div key={column.field}>
              <dt>{column.label}</dt>
              <dd>
                <span className={mark?.kind === 'changed' && mark.fields.includes(column.field) ? 'fresh' : undefined}>
                  <Fact column={column} value={row[column.field]} />
                </span>
                <Extra resource={resource} column={column} value={row[column.field]} />
              </dd>
            </div>
          ))}
      </dl>
    </section>
  )
}

/** A value; that of a reference leads to the record. */
function Fact({ column, value }: { column: Column; value: unknown }) {
  const shown = <Value column={column} value={value} />
  return column.refersTo === undefined || !isId(value) ? (
    shown
  ) : (
    <Link href={`/${column.refersTo}/${value}`}>{shown}</Link>
  )
}

/** How long ago a time is, or a button that copies what identifies the record. */
function Extra({
  resource: { keys },
  column: { field, kind, label },
  value,
}: {
  resource: Resource
  column: Column
  value: unknown
}) {
  if (value === null || value === undefined) return null
  if (kind === 'time') return <span className="faint">{distance(Date.parse(String(value)) - Date.now())}</span>
  if (!keys.some(({ name }) => name === field)) return null
  return (
    <Button
      className="button ghost icon small"
      icon={Copy}
      aria-label={`Copy the ${field === 'id' ? 'id' : label.toLowerCase()}`}
      onPress={() => void copy(label, String(value))}
    />
  )
}
