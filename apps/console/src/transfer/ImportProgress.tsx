import { Button, Label, ProgressBar } from 'react-aria-components'
import type { Resource } from '../resources/resource.ts'
import { counted } from '../ui/words.ts'
import { download } from './download.ts'
import type { Progress } from './send.ts'
import type { Source, SourceRow } from './source.ts'

const SHOWN = 100

interface Props {
  resource: Resource
  source: Source
  progress: Progress
  isRunning: boolean
  onStop: () => void
  onClose: () => void
}

/** How an import goes and how it went: what was created, and each row that was not, with why. */
export function ImportProgress({ resource, source, progress, isRunning, onStop, onClose }: Props) {
  const { created, failed } = progress
  const total = source.rows.length
  const left = total - created - failed.length
  return (
    <>
      <ProgressBar className="progress" value={total - left} maxValue={total}>
        {({ percentage = 0, valueText }) => (
          <>
            <Label>{isRunning ? 'Importing' : left > 0 ? 'Stopped' : 'Finished'}</Label>
            <span>{valueText}</span>
            <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
              <rect width={percentage} height="1" />
            </svg>
          </>
        )}
      </ProgressBar>
      <p role="status">
        <strong>{counted(created, resource.many)}</strong> created
        {failed.length > 0 && `, ${counted(failed.length, 'rows')} failed`}
        {!isRunning && left > 0 && `, ${counted(left, 'rows')} not sent`}.
      </p>
      {failed.length > 0 && <Failed rows={failed} />}
      <footer>
        {failed.length > 0 && !isRunning && (
          <Button className="button" onPress={() => void downloadFailed(resource, failed)}>
            Download the failed rows
          </Button>
        )}
        {isRunning ? (
          <Button className="button" onPress={onStop}>
            Stop
          </Button>
        ) : (
          <Button className="button primary" onPress={onClose}>
            Done
          </Button>
        )}
      </footer>
    </>
  )
}

function Failed({ rows }: { rows: SourceRow[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="scroll" aria-label="Failed rows" tabIndex={0}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">Row</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, SHOWN).map(({ number, faults }) => (
            <tr key={number}>
              <td>{number}</td>
              <td>{faults.join('; ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > SHOWN && <p className="hint">And {rows.length - SHOWN} more, in the file.</p>}
    </section>
  )
}

// As they stood in the file, so that they can be mended and imported again: `error` is no field and is not taken over.
async function downloadFailed(resource: Resource, failed: SourceRow[]) {
  const { csvLines } = await import('./csv.ts')
  const fields = [...new Set(failed.flatMap(({ raw }) => Object.keys(raw))), 'error'].filter(unique)
  const rows = failed.map(({ raw, faults }) => ({ ...raw, error: faults.join('; ') }))
  download(`${resource.many}-failed.csv`, 'text/csv', [`${fields.join(',')}\r\n`, csvLines(fields, rows)])
}

function unique(value: string, index: number, all: string[]): boolean {
  return all.indexOf(value) === index
}
