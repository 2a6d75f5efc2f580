import type { Layout, Mode } from '@resource/import'
import type { Resource } from '../resources/resource.ts'
import { Choice } from '../ui/Choice.tsx'
import { modeDescription, modesOf, numbersOf } from './settings.ts'
import type { Table } from './table.ts'

interface Props {
  resource: Resource
  table: Table
  settings: Layout
  onChange: (settings: Layout) => void
  onSeparator: (separator: string) => void
}

const DECIMALS = { ',': 'Comma, 1.234,5', '.': 'Point, 1234.5' }
const SEPARATORS: Record<string, string> = { ',': 'Comma', ';': 'Semicolon', '\t': 'Tab', '|': 'Vertical bar' }

/** How a file is read and what its rows do, each with a guess. */
export function ImportOptions({ resource, table, settings, onChange, onSeparator }: Props) {
  const { mode, columns, decimalComma } = settings
  const modes = modesOf(resource, columns)
  const isSame = (other: Mode) => other.action === mode.action && other.key === mode.key
  const hasComma = numbersOf(resource, table, columns).some((text) => text.includes(','))
  return (
    <div className="choices">
      <Choice
        label="Rows"
        value={modes.findIndex(isSame)}
        options={modes.map((mode, index) => [index, modeDescription(resource, mode)])}
        onChange={(index) => onChange({ ...settings, mode: modes[Number(index)] ?? mode })}
      />
      {table.format === 'csv' && (
        <Choice
          label="Separator"
          value={table.separator}
          options={Object.entries({ [table.separator]: table.separator, ...SEPARATORS })}
          onChange={onSeparator}
        />
      )}
      {hasComma && (
        <Choice
          label="Decimals"
          value={decimalComma ? ',' : '.'}
          options={Object.entries(DECIMALS)}
          onChange={(mark) => onChange({ ...settings, decimalComma: mark === ',' })}
        />
      )}
    </div>
  )
}
