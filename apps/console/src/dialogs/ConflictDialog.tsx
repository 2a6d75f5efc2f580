import { useState } from 'react'
import { changedBy, type Side } from '../conflict/merge.ts'
import { nameOf, type Resource } from '../resources/resource.ts'
import type { Conflict } from '../table/changes.ts'
import { VersionTable } from '../table/VersionTable.tsx'
import { Button } from '../ui/Button.tsx'
import { ModalDialog } from '../ui/ModalDialog.tsx'

interface Props {
  resource: Resource
  conflict: Conflict
  onKeep: () => void
  onOverwrite: () => void
}

/** Shows the versions of a record that changed before an action, so that the user can choose. */
export function ConflictDialog({ resource, conflict, onKeep, onOverwrite }: Props) {
  const { action, row, stored } = conflict
  const versions = { opened: row, stored, mine: action.apply(row) }
  const [sides, setSides] = useState<Record<string, Side>>({})
  const sideOf = (field: string) => sides[field] ?? 'mine'
  // An action changes one field.
  const [field] = Object.keys(action.changes ?? {})
  const isMine = field === undefined || changedBy(versions, field) !== 'both' || sideOf(field) === 'mine'
  return (
    <ModalDialog
      title={`${nameOf(resource, row)} was changed by someone else`}
      role="alertdialog"
      isWide
      onClose={onKeep}
    >
      <VersionTable
        resource={resource}
        versions={versions}
        sideOf={sideOf}
        onChoose={(field, side) => setSides({ ...sides, [field]: side })}
      />
      <footer>
        <Button onPress={onKeep} autoFocus>
          Take the stored version
        </Button>
        <Button
          className={versions.mine === undefined ? 'button danger' : 'button primary'}
          onPress={isMine ? onOverwrite : onKeep}
        >
          {action.label === 'Save' ? 'Save this version' : `${action.label} anyway`}
        </Button>
      </footer>
    </ModalDialog>
  )
}
