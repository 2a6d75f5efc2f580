import { create } from 'zustand'

/** A page that a notice speaks of. */
export interface NoticeLink {
  label: string
  href: string
}

interface Notice {
  id: number
  kind: 'done' | 'failed'
  text: string
  /** Reverts what the notice reports. */
  undo?: (() => void) | undefined
  link?: NoticeLink | undefined
}

const SHOWN_MS = 6_000
// Time to read the notice and to reach its link.
const SHOWN_WITH_LINK_MS = 20_000
const MAX_SHOWN = 4

let lastId = 0

export const useNotices = create<Notice[]>(() => [])

/**
 * Shows a notice: success for some seconds, failure until it is dismissed. One that can be undone shows until the next
 * success.
 *
 * @param action undoes what the notice reports, or leads to it
 */
export function notify(kind: Notice['kind'], text: string, action?: (() => void) | NoticeLink): void {
  const notice: Notice = {
    id: ++lastId,
    kind,
    text,
    ...(typeof action === 'function' ? { undo: action } : { link: action }),
  }
  const isOver = ({ undo }: Notice) => kind === 'done' && undo !== undefined
  useNotices.setState((all) => [...all.filter((one) => !isOver(one)), notice].slice(-MAX_SHOWN), true)
  if (kind === 'done' && notice.undo === undefined) {
    setTimeout(() => dismiss(notice.id), notice.link === undefined ? SHOWN_MS : SHOWN_WITH_LINK_MS)
  }
}

export function dismiss(id: number): void {
  useNotices.setState((notices) => notices.filter((notice) => notice.id !== id), true)
}

/** Undoes what a notice reports, or the last notice that can be undone. */
export function undo(notice = useNotices.getState().findLast(({ undo }) => undo !== undefined)): void {
  if (notice === undefined) return
  dismiss(notice.id)
  notice.undo?.()
}
