import type { ReactNode } from 'react'
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { Button } from './Button.tsx'

interface Props {
  title: string
  onClose: () => void
  /** `alertdialog` if the user must answer before anything else. */
  role?: 'dialog' | 'alertdialog'
  isWide?: boolean
  children: ReactNode
}

/** A modal dialog. Escape and the close button close it. It traps the focus and restores it when it closes. */
export function ModalDialog({ title, onClose, role = 'dialog', isWide = false, children }: Props) {
  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Modal className={isWide ? 'dialog wide' : 'dialog'}>
        <Dialog role={role}>
          <header>
            <Heading slot="title">{title}</Heading>
            <Button className="quiet" aria-label="Close" onPress={onClose}>
              <span aria-hidden="true">×</span>
            </Button>
          </header>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}
