import type { Layout, Row } from '@resource/import'
import type { Resource } from '../resources/resource.ts'
import { columnFields } from './settings.ts'
import type { Table } from './table.ts'

/** The number of rows that are shown. */
export const SHOWN = 50
/** Stands for the name of a column without one. */
export const UNNAMED = '(unnamed)'

interface Props {
  resource: Resource
  table: Table
  rows: Row[]
  settings: Layout
}

/** The rows of a file as they would be imported, those with errors first, because they need a decision. */
export function PreviewTable({ resource, table, rows, settings }: Props) {
  const { columns, mode } = settings
  const fields = columnFields(resource, mode)
  const shown = [...rows].sort((a, b) => Number(b.errors.length > 0) - Number(a.errors.length > 0)).slice(0, SHOWN)
  const used = table.columns.flatMap((column) => {
    const field = fields.find(({ name }) => name === columns[column])
    return field === undefined ? [] : [{ column, field }]
  })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className="framed scroll" aria-label="Preview" tabIndex={0}>
      <table className="table rows">
        <thead>
          <tr>
            <th scope="col">{table.format === 'json' ? 'Record' : 'Line'}</th>
            <th scope="col">Check</th>
            {used.map(({ field }) => (
              <th key={field.name} scope="col">
                {field.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ line, element = line, source, record, errors }) => (
            <tr key={element} className={errors.length > 0 ? 'wrong' : ''}>
              <td className="id">{element}</td>
              <td>{errors.length === 0 ? 'OK' : errors.join('; ')}</td>
              {used.map(({ column, field }) => (
                <td key={field.name} translate="no">
                  {cell(record[field.name] ?? source[column], field.isSecret)}
                </td>
              ))}
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
