import { QuestionDialog } from '../ui/QuestionDialog.tsx'

interface Props {
  /** What was changed: `this user`. */
  what: string
  onKeep: () => void
  onDiscard: () => void
}

/** Asks before a form with unsaved input closes. */
export function DiscardDialog({ what, onKeep, onDiscard }: Props) {
  return (
    <QuestionDialog title="Discard your changes?" keep="Keep editing" act="Discard" onKeep={onKeep} onAct={onDiscard}>
      <p>Your changes to {what} are not saved.</p>
    </QuestionDialog>
  )
}
