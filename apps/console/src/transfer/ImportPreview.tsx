import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { counted, ROWS } from '../ui/words.ts'
import type { Source } from './source.ts'

const SHOWN = 50

interface Props {
  resource: Resource
  source: Source
  onBack: () => void
  onRun: () => void
}

/** What a file holds, with the faults of each row, before anything is sent. */
export function ImportPreview({ resource, source, onBack, onRun }: Props) {
  const { rows, ignored } = source
  const good = rows.filter(({ faults }) => faults.length === 0).length
  // The wrong ones first: they are what there is to decide about.
  const shown = [...rows].sort((a, b) => Number(b.faults.length > 0) - Number(a.faults.length > 0)).slice(0, SHOWN)
  return (
    <>
      <p role="status">
        <strong>{counted(good, resource)}</strong> can be imported
        {rows.length > good && `; ${counted(rows.length - good, ROWS)} cannot and will be left out`}.
        {ignored.length > 0 && ` Not taken over: ${ignored.join(', ')}.`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="scroll" aria-label="Preview" tabIndex={0}>
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">Row</th>
              <th scope="col">Check</th>
              {resource.createFields.map(({ name, label }) => (
                <th key={name} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map(({ number, record, faults }) => (
              <tr key={number} className={faults.length > 0 ? 'wrong' : ''}>
                <td>{number}</td>
                <td>{faults.length === 0 ? 'Fine' : faults.join('; ')}</td>
                {resource.createFields.map(({ name, kind }) => (
                  <td key={name}>{cell(record[name], kind === 'password')}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > SHOWN && <p className="hint">{`Shown: ${SHOWN} of ${rows.length.toLocaleString('en')} rows.`}</p>}
      <footer>
        <Button onPress={onBack}>Choose another file</Button>
        <Button className="button primary" isDisabled={good === 0} onPress={onRun}>
          Import {counted(good, resource)}
        </Button>
      </footer>
    </>
  )
}

function cell(value: unknown, isSecret: boolean): string {
  if (value === null || value === undefined) return ''
  return isSecret ? '••••••••' : String(typeof value === 'object' ? JSON.stringify(value) : value)
}
