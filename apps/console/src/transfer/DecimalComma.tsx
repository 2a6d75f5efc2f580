import { findDecimalComma, type Layout, withDecimalPoint } from '@resource/import'
import { WandSparkles } from 'lucide-react'
import { useState } from 'react'
import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { numbersOf } from './settings.ts'
import type { Table } from './table.ts'

interface Props {
  resource: Resource
  table: Table
  settings: Layout
  /** Whether the user has chosen the decimal mark. */
  isChosen: boolean
  onChange: (settings: Layout) => void
}

/** Offers to read numbers with a decimal comma if they may have one, or says that they are read like that. */
export function DecimalComma({ resource, table, settings, isChosen, onChange }: Props) {
  const [isKept, setKept] = useState(false)
  const { columns, decimalComma } = settings
  const found = findDecimalComma(numbersOf(resource, table, columns))
  if (found === undefined || (decimalComma ? isChosen : isKept)) return null
  const { number } = found
  const hasIt = (column: string) => table.rows.some(({ source }) => String(source[column] ?? '').trim() === number)
  return (
    <div className="row note" role="status">
      <WandSparkles />
      <p>
        <b translate="no">{Object.keys(columns).find(hasIt)}</b> {found.isAmbiguous ? 'may be written' : 'is written'}{' '}
        with decimal commas: <code translate="no">{number}</code>
        {decimalComma ? ' is read as ' : '. Read it as '}
        <code translate="no">{withDecimalPoint(number)}</code>
        {decimalComma ? '.' : '?'}
      </p>
      <span className="buttons">
        {!decimalComma && (
          <Button className="small button primary" onPress={() => onChange({ ...settings, decimalComma: true })}>
            Use decimal commas
          </Button>
        )}
        <Button
          className="small button ghost"
          onPress={() => {
            setKept(true)
            if (decimalComma) onChange({ ...settings, decimalComma: false })
          }}
        >
          Keep as it is
        </Button>
      </span>
    </div>
  )
}
