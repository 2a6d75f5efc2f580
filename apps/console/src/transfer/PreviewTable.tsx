import { type Layout, type Row, recordOf } from '@resource/import'
import type { Resource } from '../resources/resource.ts'
import { Choice } from '../ui/Choice.tsx'
import { columnFields } from './settings.ts'
import type { Table } from './table.ts'

/** The number of rows that are shown. */
export const SHOWN = 50
/** Stands for the name of a column without one. */
export const UNNAMED = '(unnamed)'
const UNDECIDED = '?'

interface Props {
  resource: Resource
  table: Table
  rows: Row[]
  settings: Layout
  onChange: (settings: Layout) => void
}

/** The rows of a file, with a choice of the field of each column. */
export function PreviewTable({ resource, table, rows, settings, onChange }: Props) {
  const { columns } = settings
  const fields = columnFields(resource, settings.mode)
  const choices = [['', 'Ignored'], ...fields.map(({ name, label }) => [name, label] as const)] as const
  // Invalid rows first, because they need a decision.
  const shown = [...rows].sort((a, b) => Number(b.errors.length > 0) - Number(a.errors.length > 0)).slice(0, SHOWN)
  // A field has one column.
  const assign = (column: string, name: string | null) => {
    const others = Object.entries(columns).filter(
      ([other, field]) => other !== column && (field === null || field !== name),
    )
    onChange({ ...settings, columns: recordOf([...others, [column, name]]) })
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className="scroll" aria-label="Preview" tabIndex={0}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{table.format === 'json' ? 'Record' : 'Line'}</th>
            <th scope="col">Check</th>
            {table.columns.map((column) => (
              <th key={column} scope="col">
                <Choice
                  label={<span translate="no">{column || UNNAMED}</span>}
                  value={columns[column] === undefined ? UNDECIDED : (columns[column] ?? '')}
                  options={columns[column] === undefined ? [[UNDECIDED, 'Choose…'], ...choices] : choices}
                  onChange={(name) => assign(column, name || null)}
                />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ line, element = line, source, record, errors }) => (
            <tr key={element} className={errors.length > 0 ? 'wrong' : ''}>
              <td>{element}</td>
              <td>{errors.length === 0 ? 'OK' : errors.join('; ')}</td>
              {table.columns.map((column) => {
                const field = fields.find(({ name }) => name === columns[column])
                const value = (field && record[field.name]) ?? source[column]
                return (
                  <td key={column} translate="no">
                    {cell(value, field?.isSecret === true)}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function cell(value: unknown, isSecret: boolean): string {
  if (value === null || value === undefined) return ''
  return isSecret ? '••••••••' : String(typeof value === 'object' ? JSON.stringify(value) : value)
}
