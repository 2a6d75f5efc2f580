import type { LucideIcon } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, Suspense, useId, useRef, useState } from 'react'
import { Button } from './Button.tsx'

interface PanelProps {
  id: string
  className?: string | undefined
  onOpenChange?: (isOpen: boolean) => void
  /** Rendered while the panel is open. */
  children: (close: () => void) => ReactNode
}

/**
 * A panel below the button that opens it, whose `popoverTarget` it is. Escape and a press elsewhere close it, and the focus
 * returns to the button. It takes no place on the page.
 */
export function Panel({ id, className = 'menu anchored', onOpenChange, children }: PanelProps) {
  const panel = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  const change = (next: boolean) => {
    setOpen(next)
    onOpenChange?.(next)
  }
  const focusFirst = () => {
    if (!panel.current?.contains(document.activeElement)) controlsOf(panel.current)[0]?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // The panel may be part of a grid, which has the same keys.
    event.stopPropagation()
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined || (event.target as Element).matches('input, select')) return
    const controls = controlsOf(panel.current)
    const next = controls.indexOf(event.target as HTMLElement) + step
    controls.at(next % controls.length)?.focus()
    event.preventDefault()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move between its controls
    <div
      ref={panel}
      id={id}
      popover="auto"
      className={className}
      onBeforeToggle={({ newState }) => newState === 'open' && change(true)}
      // The browser returns the focus to the button, as long as the element that has it is still there.
      onToggle={({ newState }) => (newState === 'open' ? focusFirst() : change(false))}
      onKeyDown={onKeyDown}
    >
      {isOpen && (
        <Suspense>
          {/* Once its content has loaded. */}
          <div ref={focusFirst}>{children(() => panel.current?.hidePopover())}</div>
        </Suspense>
      )}
    </div>
  )
}

function controlsOf(panel: HTMLElement | null): HTMLElement[] {
  return [...(panel?.querySelectorAll<HTMLElement>('a, button, input, select') ?? [])]
}

interface Props extends Pick<PanelProps, 'children'> {
  /** The accessible name of the button, if its content has none. */
  label?: string
  className?: string
  panelClassName?: string
  /** The icon and the text of the button. */
  icon?: LucideIcon
  button?: ReactNode
}

/** A button and the panel that it opens. */
export function Popup({ label, className, panelClassName, icon, button, children }: Props) {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button className={className} icon={icon} popoverTarget={id} aria-label={label} aria-expanded={isOpen}>
        {button}
      </Button>
      <Panel id={id} className={panelClassName} onOpenChange={setOpen}>
        {children}
      </Panel>
    </>
  )
}
