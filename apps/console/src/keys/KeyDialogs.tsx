import { useState } from 'react'
import { writer } from '../client.ts'
import { Button } from '../ui/Button.tsx'
import { Choice } from '../ui/Choice.tsx'
import { ModalDialog } from '../ui/ModalDialog.tsx'
import { useAct } from '../ui/use-act.tsx'
import type { Key, NewKey } from './key.ts'

interface KeyProps {
  stored: Key
  /** Whether the user is logged in with it. */
  isOwn: boolean
  onClose: () => void
}

const GRACES = [
  [0, 'At once'],
  [600, 'In 10 minutes'],
  [3600, 'In an hour'],
  [86_400, 'In a day'],
] as const

/** Gives a key a new secret. */
export function RotateDialog({ stored, isOwn, onMade, onClose }: KeyProps & { onMade: (made: NewKey) => void }) {
  const [grace, setGrace] = useState(0)
  const { failure, isBusy, act } = useAct()
  const rotate = async () => onMade(await writer.keys.rotate.mutate({ id: stored.id, grace }))
  return (
    <ModalDialog title={`Rotate “${stored.name}”`} onClose={onClose}>
      <p>It gets a new secret, which is shown once. Its role, owner and history stay.</p>
      {isOwn && <p>You are logged in with this key. This page logs in again with the new secret.</p>}
      {failure}
      <Choice
        className="field"
        label="The former secret stops working"
        value={grace}
        options={GRACES}
        onChange={(value) => setGrace(Number(value))}
      />
      <footer>
        <Button onPress={onClose}>Cancel</Button>
        <Button className="button primary" onPress={() => void act(rotate)}>
          {isBusy ? 'Rotating…' : 'Rotate'}
        </Button>
      </footer>
    </ModalDialog>
  )
}

/** Ends a key for good. */
export function RevokeDialog({ stored, isOwn, onDone, onClose }: KeyProps & { onDone: () => void }) {
  const { failure, isBusy, act } = useAct()
  const revoke = async () => {
    await writer.keys.revoke.mutate({ id: stored.id })
    onDone()
  }
  return (
    <ModalDialog title={`Revoke “${stored.name}”?`} role="alertdialog" onClose={onClose}>
      <p>Whatever uses it is refused within a second. This cannot be undone.</p>
      {isOwn && <p>You are logged in with this key, so you will be logged out.</p>}
      {failure}
      <footer>
        <Button onPress={onClose} autoFocus>
          Cancel
        </Button>
        <Button className="button solid-danger" onPress={() => void act(revoke)}>
          {isBusy ? 'Revoking…' : 'Revoke'}
        </Button>
      </footer>
    </ModalDialog>
  )
}
