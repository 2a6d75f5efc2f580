import { importFields, type Layout, type Row, targetOf } from '@resource/import'
import { useEffect, useMemo, useState } from 'react'
import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { FailedLine } from '../ui/FailedLine.tsx'
import { formatCount, listed, ROWS } from '../ui/format.ts'
import { DecimalComma } from './DecimalComma.tsx'
import { ImportOptions } from './ImportOptions.tsx'
import { ImportSteps } from './ImportSteps.tsx'
import { MappingTable } from './MappingTable.tsx'
import { PreviewTable, SHOWN, UNNAMED } from './PreviewTable.tsx'
import { findImported, type Imported } from './saved.ts'
import { checkRows, guessDecimal, guessSettings, isObvious, missingFields, modeLabel, modesOf } from './settings.ts'
import type { Table } from './table.ts'

interface Props {
  resource: Resource
  table: Table
  onSeparator: (separator: string) => void
  onBack: () => void
  onRun: (settings: Layout, rows: Row[]) => void
}

/** How the columns of a file become fields, then its rows with their errors, before anything is sent. */
export function ImportPreview({ resource, table, onSeparator, onBack, onRun }: Props) {
  const [chosen, setChosen] = useState(() => guessSettings(resource, table))
  const [isMatched, setMatched] = useState(() => isObvious(resource, table, chosen))
  const [isDecimalChosen, setDecimalChosen] = useState(false)
  const settings = useMemo(() => possible(resource, chosen), [resource, chosen])
  const rows = useMemo(() => checkRows(resource, table, settings), [resource, table, settings])
  const earlier = useEarlierImport(resource, table)
  const { columns, mode } = settings
  const good = rows.filter(({ errors }) => errors.length === 0).length
  const missing = missingFields(resource, settings)
  const undecided = table.columns.filter((column) => columns[column] === undefined)
  const sent = importFields(targetOf(resource.noun), mode)
  const ignored = table.columns.filter(
    (column) => !undecided.includes(column) && !sent.some(({ name }) => name === columns[column]),
  )
  const isComplete = missing.length === 0 && undecided.length === 0
  const change = (next: Layout) => {
    const isChosen = isDecimalChosen || next.decimalComma !== settings.decimalComma
    setDecimalChosen(isChosen)
    // Another column may hold the numbers now.
    setChosen(isChosen ? next : { ...next, decimalComma: guessDecimal(resource, table, next.columns) })
  }
  return (
    <>
      <ImportSteps file={table.name} step={isMatched ? 'check' : 'match'} onMatch={() => setMatched(false)} />
      {earlier !== undefined && (
        <FailedLine>
          This file was imported on{' '}
          {new Date(earlier.at).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' })} (
          {formatCount(earlier.created, resource)} created, {earlier.updated.toLocaleString('en')} updated).
          {mode.action === 'create' && ' To import it again creates the same records twice.'}
        </FailedLine>
      )}
      <DecimalComma
        key={JSON.stringify(columns)}
        resource={resource}
        table={table}
        settings={settings}
        isChosen={isDecimalChosen}
        onChange={change}
      />
      {isMatched ? (
        <PreviewTable resource={resource} table={table} rows={rows} settings={settings} />
      ) : (
        <MappingTable resource={resource} table={table} rows={rows} settings={settings} onChange={change} />
      )}
      {isMatched && rows.length > SHOWN && (
        <p className="hint">{`Showing ${SHOWN} of ${rows.length.toLocaleString('en')} rows.`}</p>
      )}
      <ImportOptions
        resource={resource}
        table={table}
        settings={settings}
        onChange={change}
        onSeparator={onSeparator}
      />
      <footer>
        <p role="status">
          {missing.length > 0 ? (
            <>Choose a column for {listed(missing)}.</>
          ) : undecided.length > 0 ? (
            <>Choose a field for {listed(undecided.map((column) => column || UNNAMED))}, or leave it out.</>
          ) : (
            <>
              <strong>{formatCount(good, resource)}</strong> can be imported
              {rows.length > good && `; ${formatCount(rows.length - good, ROWS)} with errors will be skipped`}.
            </>
          )}
          {isMatched && ignored.length > 0 && ` Left out: ${ignored.map((column) => column || UNNAMED).join(', ')}.`}
          {isMatched && mode.action !== 'create' && table.format === 'csv' && ' Empty cells change nothing.'}
          {!isMatched && ' Nothing is written before the check.'}
        </p>
        <Button className="button ghost" onPress={onBack}>
          Another file
        </Button>
        {isMatched ? (
          <Button
            className="button primary"
            isDisabled={!isComplete || good === 0}
            onPress={() => onRun(settings, rows)}
          >
            {modeLabel(mode)} {formatCount(good, resource)}
          </Button>
        ) : (
          <Button className="button primary" isDisabled={!isComplete} onPress={() => setMatched(true)}>
            Check rows
          </Button>
        )}
      </footer>
    </>
  )
}

/** The settings without a mode whose key has no column. */
function possible(resource: Resource, settings: Layout): Layout {
  const { mode, columns } = settings
  const modes = modesOf(resource, columns)
  const isPossible = modes.some(({ action, key }) => action === mode.action && key === mode.key)
  return isPossible ? settings : { ...settings, mode: modes[0] as Layout['mode'] }
}

function useEarlierImport({ noun }: Resource, { digest }: Table): Imported | undefined {
  const [earlier, setEarlier] = useState<Imported>()
  useEffect(() => {
    void findImported(noun, digest).then(setEarlier)
  }, [noun, digest])
  return earlier
}
