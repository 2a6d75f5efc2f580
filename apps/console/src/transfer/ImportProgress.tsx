import { ServiceError } from '@resource/client'
import { type Field, faultText } from '../resources/field.ts'
import type { Resource } from '../resources/resource.ts'
import { Button } from '../ui/Button.tsx'
import { FailedLine } from '../ui/FailedLine.tsx'
import { errorMessage, formatCount, ROWS } from '../ui/format.ts'
import { Progress as Bar } from '../ui/Progress.tsx'
import { describeWork, useWork } from '../ui/work.ts'
import { type Import, type Progress, saveRemaining, summary, unsent } from './running.ts'
import { importPage, type Phase } from './use-import.ts'

const SHOWN = 100

interface Props {
  resource: Resource
  running: Import
  progress: Progress
  phase: Phase
  /** Why the import waits. */
  outage: ServiceError | undefined
  /** Why the service refused to continue. */
  refusal: unknown
  onStop: () => void
  onContinue: () => void
  /** Forgets the import. */
  onDiscard: () => void
  onDone: () => void
}

const LABELS = { running: 'Importing', stopping: 'Importing', stopped: 'Stopped', done: 'Finished' }

/** The progress and result of an import, and the error of each failed row. */
export function ImportProgress(props: Props) {
  const { resource, running, progress, phase, outage, refusal, onStop, onContinue, onDiscard, onDone } = props
  const { failed } = progress
  const total = running.rows.length
  const left = unsent(progress)
  const isOver = phase === 'stopped' || phase === 'done'
  const work = useWork((works) => works.find(({ href }) => href === importPage(resource.noun)))
  return (
    <>
      <Bar
        label={`${LABELS[phase]}: ${running.file.name}`}
        value={total - left}
        total={total}
        text={work && describeWork(work)}
      />
      <p role="status">
        {summary(resource, running, progress)}
        {!isOver && ` of ${formatCount(total, ROWS)}`}
        {failed.length > 0 && `, ${formatCount(failed.length, ROWS)} failed`}
        {isOver && left > 0 && `, ${formatCount(left, ROWS)} not sent`}.
      </p>
      {phase === 'running' && outage !== undefined && <FailedLine>{outageText(outage)}</FailedLine>}
      {phase === 'stopped' && refusal !== undefined && <FailedLine>{refusalText(refusal)}</FailedLine>}
      {isOver && failed.length > 0 && <p>Download the rows that are not stored, correct them, and import that file.</p>}
      {failed.length > 0 && (
        <Failed fields={[...resource.createFields, ...resource.keys]} running={running} failed={failed} />
      )}
      <footer>
        {isOver && failed.length + left > 0 && (
          <Button onPress={() => saveRemaining(`${resource.many}-remaining`, running, progress)}>
            Download remaining rows
          </Button>
        )}
        {phase === 'stopped' && (
          <>
            <Button onPress={onDiscard}>Discard the rest</Button>
            <Button className="button primary" onPress={onContinue}>
              Continue
            </Button>
          </>
        )}
        {phase === 'done' && (
          <Button className="button primary" onPress={onDone}>
            Done
          </Button>
        )}
        {!isOver && <p>The import goes on when you close this dialog or open another page of the console.</p>}
        {!isOver && (
          <Button isDisabled={phase === 'stopping'} onPress={onStop}>
            {phase === 'stopping' ? 'Stopping…' : 'Stop'}
          </Button>
        )}
      </footer>
    </>
  )
}

/** What went wrong, and what to do. */
function refusalText(refusal: unknown): string {
  const isForbidden = refusal instanceof ServiceError && refusal.status === 403
  const remedy = isForbidden ? 'Log in with a key that has it' : 'No row is lost: correct the cause'
  return `${errorMessage(refusal)} ${remedy}, then continue.`
}

function outageText(outage: ServiceError): string {
  if (!navigator.onLine) return 'You are offline. The import continues when you are back online.'
  if (outage.status === 0) return 'The service cannot be reached. The import continues when it is back.'
  if (outage.status === 429) return 'The service received too many requests. The import continues in a moment.'
  return 'The service has a problem. The import continues when it is back.'
}

interface FailedProps {
  fields: Field[]
  running: Import
  failed: Progress['failed']
}

function Failed({ fields, running, failed }: FailedProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section className="framed scroll" aria-label="Failed rows" tabIndex={0}>
      <table className="table rows">
        <thead>
          <tr>
            <th scope="col">{running.rows[0]?.element === undefined ? 'Line' : 'Record'}</th>
            <th scope="col">Error</th>
          </tr>
        </thead>
        <tbody>
          {failed.slice(0, SHOWN).map(([index, error]) => (
            <tr key={index}>
              <td>{running.rows[index]?.element ?? running.rows[index]?.line}</td>
              <td>{faultText(error, fields, running.rows[index]?.record)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {failed.length > SHOWN && <p className="hint">The file has {formatCount(failed.length - SHOWN, ROWS)} more.</p>}
    </section>
  )
}
