import type { LucideIcon } from 'lucide-react'
import { BookText, House, Keyboard, LogOut, Play, Plus, Redo2, SunMoon, Undo2, Upload } from 'lucide-react'
import { resources } from '../../resources/index.ts'
import { logOut, useSession } from '../../session/session.ts'
import { redoLast, undoLast } from '../../table/history.ts'
import { procedureOf, useAllowing } from '../../table/permissions.ts'
import { linkTo } from '../../table/view.ts'
import { THEMES, usePreferences } from '../../ui/preferences.ts'
import { NAVIGATION } from '../navigation.ts'

/** What the palette offers: a page, an action, a record. */
export interface Offer {
  key: string
  icon: LucideIcon
  text: string
  /** What distinguishes it, or its shortcut. */
  note?: string
  /** Whether the text is data, which a translation of the page must not change. */
  isData?: boolean
  /** A page of the console, one of the service, or what to do. */
  target: { page: string } | { url: string } | (() => void)
}

/** The pages that the user may open. */
export function usePages(): Offer[] {
  const isAllowed = useAllowing()
  return NAVIGATION.flatMap(({ pages }) => pages)
    .filter(({ needs }) => needs === undefined || isAllowed(needs))
    .map(({ href, title, icon }) => ({ key: `page ${href}`, icon, text: title, target: { page: href } }))
}

/** The actions that the user may take. */
export function useActions(onShortcuts: () => void): Offer[] {
  const isAllowed = useAllowing()
  const { session } = useSession()
  const { theme: chosen } = usePreferences()
  const simple = (icon: LucideIcon, text: string, target: Offer['target'], note?: string): Offer => ({
    key: text,
    icon,
    text,
    target,
    ...(note !== undefined && { note }),
  })
  return [
    ...resources
      .filter(({ noun }) => isAllowed(procedureOf(`${noun}.create`)))
      .map(({ noun, one }) => simple(Plus, `New ${one}`, { page: linkTo(noun, 'new') })),
    ...resources
      .filter(({ noun }) => isAllowed(procedureOf(`${noun}.createMany`)))
      .map(({ noun, many }) => simple(Upload, `Import ${many}`, { page: linkTo(noun, 'import') })),
    simple(Undo2, 'Undo the last edit', undoLast, 'Ctrl Z'),
    simple(Redo2, 'Redo the last edit', redoLast, 'Ctrl Y'),
    ...THEMES.filter((theme) => theme !== chosen).map((theme) =>
      simple(SunMoon, `Theme: ${theme}`, () => usePreferences.setState({ theme })),
    ),
    simple(Keyboard, 'Keyboard shortcuts', onShortcuts, '?'),
    simple(House, 'Start page', { url: '/' }),
    simple(Play, 'Try it', { url: '/docs' }),
    simple(BookText, 'Reference', { url: '/redoc' }),
    ...(session === undefined || session.name === 'anonymous' ? [] : [simple(LogOut, 'Log out', () => void logOut())]),
  ]
}
