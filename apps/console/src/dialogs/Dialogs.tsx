import type { BulkAction, Resource, Row } from '../resources/resource.ts'
import type { useChanges } from '../table/changes.ts'
import type { Selection } from '../table/selection.ts'
import type { Open, View } from '../table/view.ts'
import { BatchDialog } from './BatchDialog.tsx'
import { ConflictDialog } from './ConflictDialog.tsx'
import { DeleteDialog } from './DeleteDialog.tsx'
import { EditManyDialog } from './EditManyDialog.tsx'
import { ExportDialog } from './ExportDialog.tsx'
import { ImportDialog } from './ImportDialog.tsx'
import { EditDialog, NewDialog } from './RecordDialog.tsx'

export { ColumnChoice } from '../table/ColumnChoice.tsx'
export { Filters } from '../table/Filters.tsx'
export { UnfinishedImport } from '../transfer/UnfinishedImport.tsx'

/** What a page asks before it changes records: one of these. */
export interface Question {
  /** Records to delete after confirmation. */
  toDelete?: Row[]
  /** Action on all matching records, to preview. */
  actionOnAll?: BulkAction
  /** Whether to edit the selected records. */
  isEdit?: boolean
}

interface Props {
  resource: Resource
  view: View
  /** The dialog that the URL requests and the role allows. */
  open: Open | undefined
  question: Question | undefined
  /** The selected records, and the number of records that match the filters. */
  selected?: { selection: Selection; total: number }
  changes: ReturnType<typeof useChanges>
  /** Closes the dialog that the URL opened. */
  onClose: () => void
  /** Asks another question, or none. */
  onAsk: (question?: Question) => void
  onDelete: (rows: Row[]) => void
  onEdit?: (action: BulkAction, rows: Row[]) => void
}

/** The dialogs of a noun's page. Loaded lazily, because they need the component library and the table does not. */
export default function Dialogs(props: Props) {
  const { resource, view, open, question = {}, selected, changes, onClose, onAsk, onDelete, onEdit = () => {} } = props
  const { toDelete, actionOnAll, isEdit = false } = question
  const { conflict } = changes
  const window = { resource, onClose }
  const asked = { resource, onClose: () => onAsk() }
  return (
    <>
      {open === 'new' && <NewDialog {...window} />}
      {open === 'import' && <ImportDialog {...window} />}
      {open === 'export' && <ExportDialog {...window} view={view} />}
      {typeof open === 'number' && <EditDialog {...window} key={open} id={open} />}
      {toDelete !== undefined && (
        <DeleteDialog
          {...asked}
          rows={toDelete}
          onDelete={() => {
            onAsk()
            onDelete(toDelete)
          }}
        />
      )}
      {actionOnAll !== undefined && <BatchDialog {...asked} view={view} action={actionOnAll} />}
      {isEdit && selected !== undefined && (
        <EditManyDialog
          {...asked}
          {...selected}
          view={view}
          onEdit={(action, rows) => (rows === undefined ? onAsk({ actionOnAll: action }) : onEdit(action, rows))}
        />
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
