import { bytesToHex, randomBytes } from '@noble/hashes/utils.js'
import type { Layout, Row } from '@resource/import'
import { useState } from 'react'
import type { Resource } from '../resources/resource.ts'
import { ImportPreview } from '../transfer/ImportPreview.tsx'
import { ImportProgress } from '../transfer/ImportProgress.tsx'
import { ImportSource, type Source } from '../transfer/ImportSource.tsx'
import { ImportSteps } from '../transfer/ImportSteps.tsx'
import type { Saved } from '../transfer/saved.ts'
import { checkRows, hasSecrets } from '../transfer/settings.ts'
import { readTable } from '../transfer/table.ts'
import { useImport } from '../transfer/use-import.ts'
import { Button } from '../ui/Button.tsx'
import { FailedLine } from '../ui/FailedLine.tsx'
import { ModalDialog } from '../ui/ModalDialog.tsx'
import { QuestionDialog } from '../ui/QuestionDialog.tsx'

interface Props {
  resource: Resource
  onClose: () => void
}

/** Import: choose a file, match its columns, check its rows, send them. An import that this browser has not finished comes first. */
export function ImportDialog({ resource, onClose }: Props) {
  const transfer = useImport(resource)
  const { current, phase } = transfer
  const [isAsked, setAsked] = useState(false)
  return (
    <ModalDialog title={`Import ${resource.many}`} isWide onClose={onClose}>
      {isAsked && phase === 'running' && (
        <QuestionDialog
          title="Stop the import?"
          keep="Keep importing"
          act="Stop"
          onKeep={() => setAsked(false)}
          onAct={() => {
            setAsked(false)
            transfer.stop()
          }}
        >
          <p>The rows that are sent are stored. You can continue with the others later.</p>
        </QuestionDialog>
      )}
      {current === null && <NewImport resource={resource} transfer={transfer} />}
      {current && current.running.rows.length === 0 && (
        <FileAgain resource={resource} saved={current} transfer={transfer} />
      )}
      {current && current.running.rows.length > 0 && (
        <ImportProgress
          resource={resource}
          {...current}
          phase={phase}
          outage={transfer.outage}
          refusal={transfer.refusal}
          onStop={() => setAsked(true)}
          onContinue={() => void transfer.resume(current.running, current.progress)}
          onDiscard={() => void transfer.discard(current)}
          onDone={() => void transfer.discard(current).then(onClose)}
        />
      )}
    </ModalDialog>
  )
}

interface StepProps {
  resource: Resource
  transfer: ReturnType<typeof useImport>
}

function NewImport({ resource, transfer }: StepProps) {
  const [source, setSource] = useState<Source>()
  if (source === undefined) {
    return (
      <ImportSource resource={resource} onRead={setSource}>
        <ImportSteps step="file" />
      </ImportSource>
    )
  }
  const { file, table } = source
  const start = (settings: Layout, rows: Row[]) => {
    const { rows: _, ...facts } = table
    const id = bytesToHex(randomBytes(16))
    const secrets = hasSecrets(resource, table, settings)
    void transfer.start({ id, noun: resource.noun, file: facts, settings, hasSecrets: secrets, rows })
  }
  return (
    <ImportPreview
      key={table.separator}
      resource={resource}
      table={table}
      onSeparator={(separator) => void readTable(resource, file, separator).then((table) => setSource({ file, table }))}
      onBack={() => setSource(undefined)}
      onRun={start}
    />
  )
}

/** Asks for the file of an import with passwords, which the browser does not keep. */
function FileAgain({ resource, saved, transfer }: StepProps & { saved: Saved }) {
  const { running, progress } = saved
  const [isOther, setOther] = useState(false)
  const resume = ({ table }: Source) => {
    if (table.digest !== running.file.digest) return setOther(true)
    void transfer.resume({ ...running, rows: checkRows(resource, table, running.settings) }, progress)
  }
  return (
    <>
      <ImportSource resource={resource} separator={running.file.separator} onRead={resume}>
        <p role="status">
          The import of <strong>{running.file.name}</strong> stopped after row {progress.rows.toLocaleString('en')}. The
          browser does not keep passwords: choose the same file to continue.
        </p>
        {isOther && <FailedLine>This is another file, or {running.file.name} has changed.</FailedLine>}
      </ImportSource>
      <footer>
        <Button onPress={() => void transfer.discard(saved)}>Discard the rest</Button>
      </footer>
    </>
  )
}
