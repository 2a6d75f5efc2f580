import { useState } from 'react'
import { RecordForm } from '../form/RecordForm.tsx'
import { nameOf, type Resource } from '../resources/resource.ts'
import { useActor } from '../table/actor.ts'
import { useRow } from '../table/queries.ts'
import { LoadedRecord } from '../ui/LoadedRecord.tsx'
import { ModalDialog } from '../ui/ModalDialog.tsx'
import { closeUnlessUnsaved } from '../ui/unsaved.ts'

interface Props {
  resource: Resource
  onClose: () => void
}

/** The form of a new record. */
export function NewDialog({ resource, onClose }: Props) {
  return (
    <ModalDialog title={`New ${resource.one}`} onClose={() => closeUnlessUnsaved(onClose)}>
      <RecordForm resource={resource} onClose={onClose} />
    </ModalDialog>
  )
}

/** The form of a stored record. */
export function EditDialog({ resource, id, onClose }: Props & { id: number }) {
  const query = useRow(resource, id)
  const { data: row } = query
  /** The stored version of a conflict. */
  const [version, setConflict] = useState<number>()
  const actor = useActor(resource.noun, id, version)
  const name = row === undefined ? resource.one : nameOf(resource, row)
  return (
    <ModalDialog
      title={
        version === undefined
          ? `Edit ${name}`
          : `${actor ?? 'Someone else'} saved this ${resource.one} while you were editing`
      }
      onClose={() => closeUnlessUnsaved(onClose)}
    >
      <LoadedRecord one={resource.one} many={resource.many} query={query} onShowAll={onClose}>
        {(row) => <RecordForm resource={resource} row={row} onClose={onClose} onConflict={setConflict} />}
      </LoadedRecord>
    </ModalDialog>
  )
}
