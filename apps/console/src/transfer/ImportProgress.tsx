import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { formatCount, ROWS } from '../ui/format.ts'
import { Progress as Bar } from '../ui/Progress.tsx'
import { saveRows } from './export.ts'
import type { Progress } from './send.ts'
import type { Source, SourceRow } from './source.ts'

const SHOWN = 100

export type Phase = 'running' | 'stopping' | 'done'

interface Props {
  resource: Resource
  source: Source
  progress: Progress
  phase: Phase
  onStop: () => void
  onClose: () => void
}

/** The progress and result of an import: the number of created records, and the error of each failed row. */
export function ImportProgress({ resource, source, progress, phase, onStop, onClose }: Props) {
  const { created } = progress
  const failed = [...progress.failed].sort((a, b) => a.number - b.number)
  const total = source.rows.length
  const left = total - created - failed.length
  const isDone = phase === 'done'
  return (
    <>
      <Bar label={isDone ? (left > 0 ? 'Stopped' : 'Finished') : 'Importing'} value={total - left} total={total} />
      <p role="status">
        <strong>{formatCount(created, resource)}</strong> created
        {failed.length > 0 && `, ${formatCount(failed.length, ROWS)} failed`}
        {isDone && left > 0 && `, ${formatCount(left, ROWS)} not sent`}.
      </p>
      {failed.length > 0 && <Failed rows={failed} />}
      <footer>
        {failed.length > 0 && isDone && (
          <Button onPress={() => void saveFailed(resource, source, failed)}>Download failed rows</Button>
        )}
        {isDone ? (
          <Button className="button primary" onPress={onClose}>
            Done
          </Button>
        ) : (
          <Button isDisabled={phase === 'stopping'} onPress={onStop}>
            {phase === 'stopping' ? 'Stopping…' : 'Stop'}
          </Button>
        )}
      </footer>
    </>
  )
}

function Failed({ rows }: { rows: SourceRow[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className="scroll" aria-label="Failed rows" tabIndex={0}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">Row</th>
            <th scope="col">Error</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, SHOWN).map(({ number, errors }) => (
            <tr key={number}>
              <td>{number}</td>
              <td>{errors.join('; ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > SHOWN && <p className="hint">The file has {formatCount(rows.length - SHOWN, ROWS)} more.</p>}
    </section>
  )
}

// The original values, so that the file can be corrected and imported again. An import ignores the `error` column.
async function saveFailed({ many }: Resource, { form }: Source, failed: SourceRow[]) {
  const fields = new Set(failed.flatMap(({ raw }) => Object.keys(raw))).add('error')
  const rows = failed.map(({ raw, errors }) => ({ ...raw, error: errors.join('; ') }))
  await saveRows(`${many}-failed`, form, [...fields], rows)
}
