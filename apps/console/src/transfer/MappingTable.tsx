import { type Layout, type Row, recordOf } from '@resource/import'
import { ArrowRight, Check, CircleAlert } from 'lucide-react'
import { useMemo } from 'react'
import type { Resource } from '../resources/resource.ts'
import { Select } from '../ui/Select.tsx'
import { UNNAMED } from './PreviewTable.tsx'
import { columnFields } from './settings.ts'
import type { Table } from './table.ts'

const UNDECIDED = '?'
const CHOOSE = [UNDECIDED, 'Choose…'] as const
const SAMPLE = 3
// More is no list of values that somebody could read.
const MAX_DIFFERENT = 100

interface Props {
  resource: Resource
  table: Table
  rows: Row[]
  settings: Layout
  onChange: (settings: Layout) => void
}

/** The columns of a file with their first values, a choice of the field of each, and how many values fit it. */
export function MappingTable({ resource, table, rows, settings, onChange }: Props) {
  const { columns } = settings
  const fields = columnFields(resource, settings.mode)
  const choices = [['', 'Do not import'] as const, ...fields.map(({ name, label }) => [name, label] as const)]
  const wrong = useMemo(() => countFaults(rows), [rows])
  // A field has one column.
  const assign = (column: string, name: string | null) => {
    const others = Object.entries(columns).filter(
      ([other, field]) => other !== column && (field === null || field !== name),
    )
    onChange({ ...settings, columns: recordOf([...others, [column, name]]) })
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className="framed scroll" aria-label="Columns" tabIndex={0}>
      <table className="table mapping">
        <thead>
          <tr>
            <th scope="col">Column in the file</th>
            <th scope="col">First values</th>
            <td className="tight" />
            <th scope="col">Field</th>
            <th scope="col">Check</th>
          </tr>
        </thead>
        <tbody>
          {table.columns.map((column) => {
            const field = fields.find(({ name }) => name === columns[column])
            const title = column || UNNAMED
            return (
              <tr key={column}>
                <th scope="row" translate="no">
                  {title}
                </th>
                <td className="soft sample" translate="no">
                  {sampleOf(table, column, field?.isSecret === true)}
                </td>
                <td className="tight arrow">
                  <ArrowRight />
                </td>
                <td>
                  <Select
                    aria-label={`Field for ${title}`}
                    value={columns[column] === undefined ? UNDECIDED : (columns[column] ?? '')}
                    options={[...(columns[column] === undefined ? [CHOOSE] : []), ...choices]}
                    onChange={(name) => assign(column, name || null)}
                  />
                </td>
                <td className="small-text check">
                  {field === undefined ? (
                    <span className="faint">{columns[column] === undefined ? 'Not decided' : 'Left out'}</span>
                  ) : (
                    <Fit
                      fault={wrong.get(field.name) ?? 0}
                      total={rows.length}
                      isNumber={field.kind === 'number'}
                      different={field.kind === 'text' && !field.isSecret ? different(rows, field.name) : undefined}
                    />
                  )}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
  )
}

interface FitProps {
  fault: number
  total: number
  isNumber: boolean
  different: number | undefined
}

function Fit({ fault, total, isNumber, different }: FitProps) {
  const text = `${(total - fault).toLocaleString('en')} of ${total.toLocaleString('en')}`
  if (fault > 0) {
    return (
      <span className={fault === total ? 'error' : 'status doubtful'}>
        <CircleAlert />
        {text} {isNumber ? 'are numbers' : 'are valid'}
      </span>
    )
  }
  return (
    <span className="status faint">
      <Check />
      {different === undefined ? text : `${different} different ${different === 1 ? 'value' : 'values'}`}
    </span>
  )
}

/** The number of rows in which a field is wrong. */
function countFaults(rows: Row[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { errors } of rows) {
    for (const name of new Set(errors.map((error) => error.slice(0, error.indexOf(':'))))) {
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
  }
  return counts
}

/** The number of different values of a field; undefined if nearly each row has its own. */
function different(rows: Row[], name: string): number | undefined {
  const values = new Set<unknown>()
  for (const { record } of rows) {
    if (record[name] != null) values.add(record[name])
    if (values.size > MAX_DIFFERENT || values.size * 2 > rows.length) return undefined
  }
  return values.size === 0 ? undefined : values.size
}

function sampleOf({ rows }: Table, column: string, isSecret: boolean): string {
  if (isSecret) return '••••••••'
  return rows
    .slice(0, SAMPLE)
    .flatMap(({ source }) => {
      const value = source[column]
      if (value === undefined || value === null || value === '') return []
      return typeof value === 'object' ? JSON.stringify(value) : String(value)
    })
    .join(' · ')
}
