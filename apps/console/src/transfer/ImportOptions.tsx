import type { Layout, Mode } from '@resource/import'
import type { Resource } from '../resources/resource.ts'
import { modeDescription, modesOf, numbersOf } from './settings.ts'
import type { Table } from './table.ts'

interface Props {
  resource: Resource
  table: Table
  settings: Layout
  onChange: (settings: Layout) => void
  onSeparator: (separator: string) => void
}

const SEPARATORS: Record<string, string> = { ',': 'Comma', ';': 'Semicolon', '\t': 'Tab', '|': 'Vertical bar' }

/** How a file is read and what its rows do, each with a guess. */
export function ImportOptions({ resource, table, settings, onChange, onSeparator }: Props) {
  const { mode, columns, decimalComma } = settings
  const modes = modesOf(resource, columns)
  const isSame = (other: Mode) => other.action === mode.action && other.key === mode.key
  const hasComma = numbersOf(resource, table, columns).some((text) => text.includes(','))
  return (
    <div className="options">
      <label className="filter">
        <span>Rows</span>
        <select
          value={modes.findIndex(isSame)}
          onChange={(event) => onChange({ ...settings, mode: modes[Number(event.target.value)] ?? mode })}
        >
          {modes.map((mode, index) => (
            <option key={`${mode.action} ${mode.key}`} value={index}>
              {modeDescription(resource, mode)}
            </option>
          ))}
        </select>
      </label>
      {table.format === 'csv' && (
        <label className="filter">
          <span>Separator</span>
          <select value={table.separator} onChange={(event) => onSeparator(event.target.value)}>
            {Object.entries({ [table.separator]: table.separator, ...SEPARATORS }).map(([separator, label]) => (
              <option key={separator} value={separator}>
                {label}
              </option>
            ))}
          </select>
        </label>
      )}
      {hasComma && (
        <label className="filter">
          <span>Decimal numbers</span>
          <select
            value={decimalComma ? ',' : '.'}
            onChange={(event) => onChange({ ...settings, decimalComma: event.target.value === ',' })}
          >
            <option value=",">1.234,5 (comma)</option>
            <option value=".">1234.5 (point)</option>
          </select>
        </label>
      )}
    </div>
  )
}
