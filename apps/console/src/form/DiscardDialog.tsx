import { Button } from '../ui/Button.tsx'
import { ModalDialog } from '../ui/ModalDialog.tsx'

interface Props {
  /** What was changed: `this user`. */
  what: string
  onKeep: () => void
  onDiscard: () => void
}

/** Asks before a form with unsaved input closes. */
export function DiscardDialog({ what, onKeep, onDiscard }: Props) {
  return (
    <ModalDialog title="Discard your changes?" role="alertdialog" onClose={onKeep}>
      <p>Your changes to {what} are not saved.</p>
      <footer>
        <Button onPress={onKeep} autoFocus>
          Keep editing
        </Button>
        <Button className="button danger" onPress={onDiscard}>
          Discard
        </Button>
      </footer>
    </ModalDialog>
  )
}
