import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { Progress as Bar } from '../ui/Progress.tsx'
import { counted, ROWS } from '../ui/words.ts'
import { saveRows } from './export.ts'
import type { Progress } from './send.ts'
import type { Source, SourceRow } from './source.ts'

const SHOWN = 100

export type Phase = 'running' | 'stopping' | 'over'

interface Props {
  resource: Resource
  source: Source
  progress: Progress
  phase: Phase
  onStop: () => void
  onClose: () => void
}

/** How an import goes and how it went: what was created, and each row that was not, with why. */
export function ImportProgress({ resource, source, progress, phase, onStop, onClose }: Props) {
  const { created } = progress
  const failed = [...progress.failed].sort((a, b) => a.number - b.number)
  const total = source.rows.length
  const left = total - created - failed.length
  const isOver = phase === 'over'
  return (
    <>
      <Bar label={isOver ? (left > 0 ? 'Stopped' : 'Finished') : 'Importing'} value={total - left} total={total} />
      <p role="status">
        <strong>{counted(created, resource)}</strong> created
        {failed.length > 0 && `, ${counted(failed.length, ROWS)} failed`}
        {isOver && left > 0 && `, ${counted(left, ROWS)} not sent`}.
      </p>
      {failed.length > 0 && <Failed rows={failed} />}
      <footer>
        {failed.length > 0 && isOver && (
          <Button onPress={() => void saveFailed(resource, source, failed)}>Download the failed rows</Button>
        )}
        {isOver ? (
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
      {rows.length > SHOWN && <p className="hint">And {counted(rows.length - SHOWN, ROWS)} more, in the file.</p>}
    </section>
  )
}

// As they stood in the file, so that they can be mended and imported again: `error` is no field and is not taken over.
async function saveFailed({ many }: Resource, { form }: Source, failed: SourceRow[]) {
  const fields = new Set(failed.flatMap(({ raw }) => Object.keys(raw))).add('error')
  const rows = failed.map(({ raw, faults }) => ({ ...raw, error: faults.join('; ') }))
  await saveRows(`${many}-failed`, form, [...fields], rows)
}
