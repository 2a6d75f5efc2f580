import type { ReactNode } from 'react'
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { Button } from './Button.tsx'

interface Props {
  title: string
  onClose: () => void
  /** `alertdialog` for what must be answered before anything else. */
  role?: 'dialog' | 'alertdialog'
  isWide?: boolean
  children: ReactNode
}

/** A dialog over the page. Escape and the cross close it; the keyboard stays in it, and goes back to where it was. */
export function Window({ title, onClose, role = 'dialog', isWide = false, children }: Props) {
  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Modal className={isWide ? 'window wide' : 'window'}>
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
