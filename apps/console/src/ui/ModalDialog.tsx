import { X } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components'
import { Button } from './Button.tsx'
import { Later } from './later.tsx'

interface Props {
  title: string
  /** One sentence below the title. */
  description?: string
  onClose: () => void
  /** `alertdialog` if the user must answer before anything else. */
  role?: 'dialog' | 'alertdialog'
  isWide?: boolean
  children: ReactNode
}

const FIELDS = 'input:not([type=file], [type=checkbox]), select, textarea'

/**
 * A modal dialog. Escape and the close button close it. It starts with the focus on its first field, or the
 * first in an element with `data-start`, traps the focus, and restores it when it closes. If the focused element disappears,
 * the focus returns to that start.
 */
export function ModalDialog(props: Props) {
  return (
    <Later>
      <Frame {...props} />
    </Later>
  )
}

function Frame({ title, description, onClose, role = 'dialog', isWide = false, children }: Props) {
  const dialog = useRef<HTMLElement>(null)

  // After every render, because the fields may appear after the dialog has loaded a record; and when the dialog gets the
  // focus, which may be later.
  useEffect(() => {
    const element = dialog.current
    const focusField = () => {
      if (document.activeElement !== element) return
      const start = element?.querySelector('[data-start]') ?? element
      start?.querySelector<HTMLElement>(FIELDS)?.focus()
    }
    focusField()
    element?.addEventListener('focus', focusField)
    return () => element?.removeEventListener('focus', focusField)
  })

  // The element with the focus may disappear, such as a button whose step is over. The focus must not go to another
  // button, which a repeated Enter would press.
  useEffect(() => {
    const element = dialog.current
    if (element === null) return
    const observer = new MutationObserver(() => {
      if (document.activeElement === document.body) element.focus()
    })
    observer.observe(element, { childList: true, subtree: true })
    return () => observer.disconnect()
  }, [])

  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Modal className={isWide ? 'dialog wide' : 'dialog'}>
        <Dialog ref={dialog} role={role}>
          <header>
            <div>
              <Heading slot="title">{title}</Heading>
              {description !== undefined && <p>{description}</p>}
            </div>
            <Button className="button ghost icon" icon={X} aria-label="Close" onPress={onClose} />
          </header>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  )
}
