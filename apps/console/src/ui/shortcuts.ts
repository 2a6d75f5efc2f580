import { useEffect, useEffectEvent } from 'react'
import { usePreferences } from './preferences.ts'

/**
 * Calls `act` when the key is pressed outside inputs and dialogs.
 *
 * @param key the value of the event, such as `/`, or `Mod+Shift+z` for Ctrl or Command with keys
 * @param isGlobal whether the key counts in inputs of the page, too
 */
export function useShortcut(key: string, act: () => void, { isGlobal = false } = {}): void {
  const pressed = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.altKey || keyOf(event) !== key || hasDialog()) return
    if (!isGlobal && isTyping(event, key)) return
    if (!key.startsWith('Mod+') && !usePreferences.getState().hasKeyShortcuts) return
    event.preventDefault()
    act()
  })
  useEffect(() => {
    const listener = (event: KeyboardEvent) => pressed(event)
    window.addEventListener('keydown', listener)
    return () => window.removeEventListener('keydown', listener)
  }, [])
}

function keyOf({ ctrlKey, metaKey, shiftKey, key }: KeyboardEvent): string {
  return ctrlKey || metaKey ? `Mod+${shiftKey ? 'Shift+' : ''}${key.toLowerCase()}` : key
}

function isTyping({ target }: KeyboardEvent, key: string): boolean {
  if (!(target instanceof Element)) return false
  // A letter chooses an option of a list, which has no undo of its own.
  const isChoosing = !key.startsWith('Mod+') && target.closest('select') !== null
  return isChoosing || target.closest('input:not([type=checkbox]), textarea') !== null
}

function hasDialog(): boolean {
  return document.querySelector('[role=dialog], [role=alertdialog]') !== null
}
