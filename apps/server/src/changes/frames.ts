import type { Filter } from './entry.ts'
import type { Found } from './kept.ts'
import type { Position } from './position.ts'
import type { Tailer } from './tailer.ts'

/** The most changes in one part: a client that does not read costs no more. */
const MAX_CHANGES = 200
const MAX_SHARED = 100

interface Part {
  to: Position
  /** Undefined if no change matches. */
  bytes: Uint8Array | undefined
}

/** Encodes changes once for all streams with the same position and filter. */
export class Frames {
  readonly #tailer: Tailer
  readonly #known = new Map<string, Part>()
  #headId = 0

  constructor(tailer: Tailer) {
    this.#tailer = tailer
  }

  after(position: Position, filter: Filter, caller: string): Part | Promise<Part> {
    const headId = this.#tailer.head?.id ?? 0
    if (headId !== this.#headId) this.#known.clear()
    this.#headId = headId
    const key = `${position.id} ${filter.key}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const found = this.#tailer.after(position, filter, MAX_CHANGES, caller)
    if (found instanceof Promise) return found.then(encoded)
    const part = encoded(found)
    if (this.#known.size < MAX_SHARED) this.#known.set(key, part)
    return part
  }
}

function encoded({ entries, to }: Found): Part {
  if (entries.length === 0) return { to, bytes: undefined }
  const frames = entries.map(
    ({ change }) => `event: change\nid: ${change?.cursor}\ndata: ${JSON.stringify(change)}\n\n`,
  )
  return { to, bytes: Buffer.from(frames.join('')) }
}
