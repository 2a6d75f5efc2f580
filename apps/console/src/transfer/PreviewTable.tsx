import type { Layout, Row } from '@resource/import'
import { Check } from 'lucide-react'
import { faultText } from '../resources/field.ts'
import { isId, type Resource } from '../resources/resource.ts'
import { Label } from '../resources/Value.tsx'
import { decimalsOf, formatNumber } from '../resources/value-text.ts'
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
  const known = [...resource.createFields, ...resource.keys]
  const shown = [...rows].sort((a, b) => Number(b.errors.length > 0) - Number(a.errors.length > 0)).slice(0, SHOWN)
  const used = table.columns.flatMap((column) => {
    const field = fields.find(({ name }) => name === columns[column])
    if (field === undefined) return []
    const decimals = decimalsOf(
      shown.map(({ record }) => (typeof record[field.name] === 'number' ? record[field.name] : 0)),
      resource.recordColumns.find((column) => column.field === field.name)?.decimals ?? 0,
    )
    return [{ column, field, decimals }]
  })
  const figure = used.find(({ field }) => field.kind === 'number')
  const [name, rest] = used.filter((one) => one !== figure)
  // On a phone, three values are enough to recognize a row.
  const placeOf = (field: object) => {
    if (field === figure?.field) return 'end at-figure'
    return field === name?.field ? 'at-name' : field === rest?.field ? 'at-rest' : undefined
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className="framed scroll" aria-label="Preview" tabIndex={0}>
      <table className="table rows stack">
        <thead>
          <tr>
            <th scope="col">{table.format === 'json' ? 'Record' : 'Line'}</th>
            {used.map(({ field }) => (
              <th key={field.name} scope="col" className={field.kind === 'number' ? 'end' : undefined}>
                {field.label}
              </th>
            ))}
            <th scope="col">Check</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ line, element = line, source, record, errors }) => (
            <tr key={element} className={errors.length > 0 ? 'wrong' : ''}>
              <td className="id at-when">{element}</td>
              {used.map(({ column, field, decimals }) => (
                <td key={field.name} translate="no" className={placeOf(field)}>
                  {field.name in resource.references && isId(record[field.name]) ? (
                    <Label noun={resource.references[field.name]} id={record[field.name]} />
                  ) : (
                    cell(record[field.name] ?? source[column], field.isSecret, decimals)
                  )}
                </td>
              ))}
              <td className="check at-extra">
                {errors.length === 0 ? (
                  <span className="status faint">
                    <Check />
                    OK
                  </span>
                ) : (
                  errors.map((error) => faultText(error, known, record)).join('; ')
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function cell(value: unknown, isSecret: boolean, decimals: number): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return formatNumber(value, decimals)
  return isSecret ? '••••••••' : String(typeof value === 'object' ? JSON.stringify(value) : value)
}
