import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { formatCount, ROWS } from '../ui/format.ts'
import type { Source } from './source.ts'

const SHOWN = 50

interface Props {
  resource: Resource
  source: Source
  onBack: () => void
  onRun: () => void
}

/** The rows of a file with their errors, before anything is sent. */
export function ImportPreview({ resource, source, onBack, onRun }: Props) {
  const { rows, ignored } = source
  const good = rows.filter(({ errors }) => errors.length === 0).length
  // Invalid rows first, because they need a decision.
  const shown = [...rows].sort((a, b) => Number(b.errors.length > 0) - Number(a.errors.length > 0)).slice(0, SHOWN)
  return (
    <>
      <p role="status">
        <strong>{formatCount(good, resource)}</strong> can be imported
        {rows.length > good && `; ${formatCount(rows.length - good, ROWS)} with errors will be skipped`}.
        {ignored.length > 0 && ` Ignored fields: ${ignored.join(', ')}.`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard */}
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
            {shown.map(({ number, record, errors }) => (
              <tr key={number} className={errors.length > 0 ? 'wrong' : ''}>
                <td>{number}</td>
                <td>{errors.length === 0 ? 'OK' : errors.join('; ')}</td>
                {resource.createFields.map(({ name, kind }) => (
                  <td key={name}>{cell(record[name], kind === 'password')}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > SHOWN && <p className="hint">{`Showing ${SHOWN} of ${rows.length.toLocaleString('en')} rows.`}</p>}
      <footer>
        <Button onPress={onBack}>Choose another file</Button>
        <Button className="button primary" isDisabled={good === 0} onPress={onRun}>
          Import {formatCount(good, resource)}
        </Button>
      </footer>
    </>
  )
}

function cell(value: unknown, isSecret: boolean): string {
  if (value === null || value === undefined) return ''
  return isSecret ? '••••••••' : String(typeof value === 'object' ? JSON.stringify(value) : value)
}
