import { useEffect, useEffectEvent } from 'react'
import { usePreferences } from './preferences.ts'

/**
 * Calls `act` when the key is pressed outside inputs and dialogs.
 *
 * @param key the value of the event, such as `/`, or `Mod+Shift+z` for Ctrl or Command with keys
 */
export function useShortcut(key: string, act: () => void): void {
  const pressed = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.altKey || keyOf(event) !== key || isTyping(event) || hasDialog()) return
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

function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest('input:not([type=checkbox]), select, textarea') !== null
}

function hasDialog(): boolean {
  return document.querySelector('[role=dialog], [role=alertdialog]') !== null
}
