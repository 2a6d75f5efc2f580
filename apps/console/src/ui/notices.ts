import { create } from 'zustand'
import { onLogOut } from './log-out.ts'

/** A page that a notice speaks of. */
export interface NoticeLink {
  label: string
  href: string
}

/** What reverts the change that a notice reports. */
interface NoticeAction {
  label: 'Undo' | 'Redo'
  act: () => void
}

interface Notice {
  id: number
  kind: 'done' | 'failed'
  text: string
  /** What was done, after the text, such as `saved`. It shows whole: a long text is shortened instead. */
  done?: string
  /** The rest of the text, which shows where it fits. */
  details?: string
  action?: NoticeAction | undefined
  link?: NoticeLink | undefined
}

const SHOWN_MS = 10_000
// Time to read the notice and to reach its link.
const SHOWN_WITH_LINK_MS = 20_000
const MAX_SHOWN = 4

let lastId = 0

export const useNotices = create<Notice[]>(() => [])

onLogOut(() => useNotices.setState([], true))

/**
 * Shows a notice: success for some seconds, failure until it is dismissed. One with an action shows until the next success.
 *
 * @param extras what reverts the change that the notice reports, and a page that it leads to
 */
export function notify(
  kind: Notice['kind'],
  text: string,
  extras: Pick<Notice, 'done' | 'details' | 'action' | 'link'> = {},
): void {
  const notice: Notice = { id: ++lastId, kind, text, ...extras }
  const isOver = ({ action }: Notice) => kind === 'done' && action !== undefined
  useNotices.setState((all) => [...all.filter((one) => !isOver(one)), notice].slice(-MAX_SHOWN), true)
  if (kind === 'done' && notice.action === undefined) {
    setTimeout(() => expire(notice.id), notice.link === undefined ? SHOWN_MS : SHOWN_WITH_LINK_MS)
  }
}

/** Dismisses a notice, but not while the pointer or the focus is on the notices. */
function expire(id: number): void {
  if (document.querySelector('.notices:is(:hover, :focus-within)') === null) dismiss(id)
  else setTimeout(() => expire(id), 1_000)
}

export function dismiss(id: number): void {
  useNotices.setState((notices) => notices.filter((notice) => notice.id !== id), true)
}
