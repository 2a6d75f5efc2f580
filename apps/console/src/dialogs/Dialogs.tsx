import type { BulkAction, Resource, Row } from '../resources/resource.ts'
import type { useChanges } from '../table/changes.ts'
import type { Open, View } from '../table/view.ts'
import { ConflictDialog } from './ConflictDialog.tsx'
import { ExportDialog } from './ExportDialog.tsx'
import { ImportDialog } from './ImportDialog.tsx'
import { ManyDialog } from './ManyDialog.tsx'
import { EditDialog, NewDialog } from './RecordDialog.tsx'

export { SelectionBar } from '../table/SelectionBar.tsx'
export { UnfinishedImport } from '../transfer/UnfinishedImport.tsx'

/** What a page asks before it changes records. */
export interface Question {
  /** What to do; undefined to ask for a field and its value. */
  action?: BulkAction | undefined
  /** The records; undefined for all that match the filters. */
  rows?: Row[] | undefined
  /** Whether the records are to be exported. */
  isExport?: boolean
}

interface Props {
  resource: Resource
  view: View
  /** The dialog that the URL requests and the role allows. */
  open: Open | undefined
  question?: Question | undefined
  /** The number of records that match the filters. */
  total?: number
  changes: ReturnType<typeof useChanges>
  /** Closes the dialog that the URL opened. */
  onClose: () => void
  /** Asks another question, or none. */
  onAsk?: (question?: Question) => void
  /** Called after many records were changed or deleted. */
  onDone?: () => void
}

/** The dialogs of a noun's page. Loaded lazily, because they need the component library and the table does not. */
export default function Dialogs(props: Props) {
  const { resource, view, open, question, total = 0, changes, onClose, onAsk = () => {}, onDone = () => {} } = props
  const { conflict } = changes
  const window = { resource, onClose }
  const asked = { resource, onClose: () => onAsk() }
  return (
    <>
      {open === 'new' && <NewDialog {...window} />}
      {open === 'import' && <ImportDialog {...window} />}
      {open === 'export' && <ExportDialog {...window} view={view} />}
      {typeof open === 'number' && <EditDialog {...window} key={open} id={open} />}
      {question?.isExport && <ExportDialog {...asked} view={view} rows={question.rows} />}
      {question !== undefined && !question.isExport && (
        <ManyDialog {...asked} {...question} view={view} total={question.rows?.length ?? total} onDone={onDone} />
      )}
      {conflict !== undefined && (
        <ConflictDialog
          key={conflict.row.id}
          resource={resource}
          conflict={conflict}
          onKeep={changes.keepStored}
          onOverwrite={() => void changes.overwrite(conflict)}
        />
      )}
    </>
  )
}
