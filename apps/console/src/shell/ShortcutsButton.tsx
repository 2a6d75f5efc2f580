import { lazy, useState } from 'react'
import { Button } from '../ui/Button.tsx'
import { LazyDialog } from '../ui/LazyDialog.tsx'
import { useShortcut } from '../ui/shortcuts.ts'

const Shortcuts = lazy(() => import('./Shortcuts.tsx'))

/** Opens the list of keyboard shortcuts, as `?` does. */
export function ShortcutsButton() {
  const [isOpen, setOpen] = useState(false)
  useShortcut('?', () => setOpen(true))
  return (
    <>
      <Button aria-label="Keyboard shortcuts" aria-keyshortcuts="?" onPress={() => setOpen(true)}>
        <span aria-hidden="true">?</span>
      </Button>
      {isOpen && (
        <LazyDialog>
          <Shortcuts onClose={() => setOpen(false)} />
        </LazyDialog>
      )}
    </>
  )
}
