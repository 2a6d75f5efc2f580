export interface Notice {
  id: number
  kind: 'done' | 'failed'
  text: string
}

const SHOWN_MS = 6_000

let notices: Notice[] = []
let lastId = 0
const listeners = new Set<() => void>()

/** Says that something is done, for some seconds; a failure stays until it is dismissed. */
export function notify(kind: Notice['kind'], text: string): void {
  const id = ++lastId
  change([...notices, { id, kind, text }].slice(-4))
  if (kind === 'done') setTimeout(() => dismiss(id), SHOWN_MS)
}

export function dismiss(id: number): void {
  change(notices.filter((notice) => notice.id !== id))
}

/** A store in the form of React's useSyncExternalStore. */
export const noticeStore = {
  subscribe: (listener: () => void) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  read: () => notices,
}

function change(next: Notice[]) {
  notices = next
  for (const listener of listeners) listener()
}
