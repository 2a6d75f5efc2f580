import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
import { ModalDialog } from './ModalDialog.tsx'

interface Props {
  title: string
  /** The label of the button that changes nothing. */
  keep: string
  /** The label of the button that acts. */
  act: string
  onKeep: () => void
  onAct: () => void
  children: ReactNode
}

/** Asks before something is lost. The focus is on the button that keeps it. */
export function QuestionDialog({ title, keep, act, onKeep, onAct, children }: Props) {
  return (
    <ModalDialog title={title} role="alertdialog" onClose={onKeep}>
      {children}
      <footer>
        <Button onPress={onKeep} autoFocus>
          {keep}
        </Button>
        <Button className="button danger" onPress={onAct}>
          {act}
        </Button>
      </footer>
    </ModalDialog>
  )
}
