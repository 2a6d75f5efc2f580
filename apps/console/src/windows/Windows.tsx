import type { Resource, Row } from '../resources/resource.ts'
import { deletion, type useChanges } from '../table/changes.ts'
import type { Open, View } from '../table/view.ts'
import { ConflictWindow } from './ConflictWindow.tsx'
import { DeleteWindow } from './DeleteWindow.tsx'
import { ExportWindow } from './ExportWindow.tsx'
import { ImportWindow } from './ImportWindow.tsx'
import { PurgeWindow } from './PurgeWindow.tsx'
import { EditWindow, NewWindow } from './RecordWindow.tsx'

interface Props {
  resource: Resource
  view: View
  /** Which window the URL asks for and the role allows. */
  open: Open | undefined
  /** What is about to be deleted. */
  doomed: Row[] | undefined
  changes: ReturnType<typeof useChanges>
  /** Closes what the URL has opened. */
  onClose: () => void
  /** The doomed will be deleted. */
  onDoomed: () => void
  onSpared: () => void
}

/** What lies over a noun's table. A module of its own: it brings the component library, which the table does without. */
export default function Windows({ resource, view, open, doomed, changes, onClose, onDoomed, onSpared }: Props) {
  const { conflict } = changes
  const window = { resource, onClose }
  return (
    <>
      {open === 'new' && <NewWindow {...window} />}
      {open === 'import' && <ImportWindow {...window} />}
      {open === 'export' && <ExportWindow {...window} view={view} />}
      {open === 'purge' && resource.purge !== undefined && <PurgeWindow {...window} purge={resource.purge} />}
      {typeof open === 'number' && <EditWindow {...window} key={open} id={open} />}
      {doomed !== undefined && (
        <DeleteWindow
          resource={resource}
          rows={doomed}
          onClose={onSpared}
          onDelete={() => {
            onDoomed()
            void changes.act(deletion(resource), doomed)
          }}
        />
      )}
      {conflict !== undefined && (
        <ConflictWindow
          resource={resource}
          conflict={conflict}
          onKeep={changes.keepStored}
          onOverwrite={() => void changes.overwrite(conflict)}
        />
      )}
    </>
  )
}
