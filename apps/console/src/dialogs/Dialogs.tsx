import type { Resource, Row } from '../resources/resource.ts'
import { deletion, type useChanges } from '../table/changes.ts'
import type { Open, View } from '../table/view.ts'
import { ConflictDialog } from './ConflictDialog.tsx'
import { DeleteDialog } from './DeleteDialog.tsx'
import { ExportDialog } from './ExportDialog.tsx'
import { ImportDialog } from './ImportDialog.tsx'
import { PurgeDialog } from './PurgeDialog.tsx'
import { EditDialog, NewDialog } from './RecordDialog.tsx'

interface Props {
  resource: Resource
  view: View
  /** The dialog that the URL requests and the role allows. */
  open: Open | undefined
  /** Records to delete after confirmation. */
  toDelete: Row[] | undefined
  changes: ReturnType<typeof useChanges>
  /** Closes the dialog that the URL opened. */
  onClose: () => void
  onDeleteConfirmed: () => void
  onDeleteCancelled: () => void
}

/** The dialogs of a noun's page. Loaded lazily, because they need the component library and the table does not. */
export default function Dialogs({
  resource,
  view,
  open,
  toDelete,
  changes,
  onClose,
  onDeleteConfirmed,
  onDeleteCancelled,
}: Props) {
  const { conflict } = changes
  const window = { resource, onClose }
  return (
    <>
      {open === 'new' && <NewDialog {...window} />}
      {open === 'import' && <ImportDialog {...window} />}
      {open === 'export' && <ExportDialog {...window} view={view} />}
      {open === 'purge' && resource.purge !== undefined && <PurgeDialog {...window} purge={resource.purge} />}
      {typeof open === 'number' && <EditDialog {...window} key={open} id={open} />}
      {toDelete !== undefined && (
        <DeleteDialog
          resource={resource}
          rows={toDelete}
          onClose={onDeleteCancelled}
          onDelete={() => {
            onDeleteConfirmed()
            void changes.act(deletion(resource), toDelete)
          }}
        />
      )}
      {conflict !== undefined && (
        <ConflictDialog
          resource={resource}
          conflict={conflict}
          onKeep={changes.keepStored}
          onOverwrite={() => void changes.overwrite(conflict)}
        />
      )}
    </>
  )
}
