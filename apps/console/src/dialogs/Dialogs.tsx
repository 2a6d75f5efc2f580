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

interface Props {
  resource: Resource
  view: View
  /** The dialog that the URL requests and the role allows. */
  open: Open | undefined
  /** Records to delete after confirmation. */
  toDelete: Row[] | undefined
  /** Action on all matching records, to preview. */
  actionOnAll?: BulkAction | undefined
  /** The selected records, to edit them all, and the number of records that match the filters. */
  toEdit?: { selection: Selection; total: number } | undefined
  changes: ReturnType<typeof useChanges>
  /** Closes the dialog that the URL opened. */
  onClose: () => void
  onDelete: (rows: Row[]) => void
  onDeleteClosed: () => void
  onActionOnAllClosed?: () => void
  /** @param rows undefined if the action is for all matching records, after a preview */
  onEdit?: (action: BulkAction, rows?: Row[]) => void
  onEditClosed?: () => void
}

/** The dialogs of a noun's page. Loaded lazily, because they need the component library and the table does not. */
export default function Dialogs({
  resource,
  view,
  open,
  toDelete,
  actionOnAll,
  toEdit,
  changes,
  onClose,
  onDelete,
  onDeleteClosed,
  onActionOnAllClosed = () => {},
  onEdit = () => {},
  onEditClosed = () => {},
}: Props) {
  const { conflict } = changes
  const window = { resource, onClose }
  return (
    <>
      {open === 'new' && <NewDialog {...window} />}
      {open === 'import' && <ImportDialog {...window} />}
      {open === 'export' && <ExportDialog {...window} view={view} />}
      {typeof open === 'number' && <EditDialog {...window} key={open} id={open} />}
      {toDelete !== undefined && (
        <DeleteDialog
          resource={resource}
          rows={toDelete}
          onClose={onDeleteClosed}
          onDelete={() => {
            onDeleteClosed()
            onDelete(toDelete)
          }}
        />
      )}
      {actionOnAll !== undefined && (
        <BatchDialog resource={resource} view={view} action={actionOnAll} onClose={onActionOnAllClosed} />
      )}
      {toEdit !== undefined && (
        <EditManyDialog resource={resource} view={view} {...toEdit} onEdit={onEdit} onClose={onEditClosed} />
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
