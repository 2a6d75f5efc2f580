import { create } from 'zustand'

interface Notice {
  id: number
  kind: 'done' | 'failed'
  text: string
}

const SHOWN_MS = 6_000

let lastId = 0

export const useNotices = create<Notice[]>(() => [])

/** Shows a notice: success for some seconds, failure until it is dismissed. */
export function notify(kind: Notice['kind'], text: string): void {
  const id = ++lastId
  useNotices.setState((notices) => [...notices, { id, kind, text }].slice(-4), true)
  if (kind === 'done') setTimeout(() => dismiss(id), SHOWN_MS)
}

export function dismiss(id: number): void {
  useNotices.setState((notices) => notices.filter((notice) => notice.id !== id), true)
}
