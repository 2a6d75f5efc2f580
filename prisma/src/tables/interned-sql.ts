// The statements of a service are some hundreds. Lists with every combination of filters and sorts have a hundred thousand.
const MAX_TEXTS = 10_000

/**
 * SQL text built from interned pieces: the same pieces return the same string object each time. A map with the text as key,
 * such as the cache of prepared statements, then compares addresses instead of characters. After 10,000 texts all are freed.
 * The pieces should come from a small set: column names, but never values.
 */
export class InternedSql {
  readonly text: string
  readonly #root: InternedSql
  readonly #continuations = new Map<string, InternedSql>()
  #texts = 0

  /** @param root the text that this one begins with; default: this one */
  constructor(text: string, root?: InternedSql) {
    this.text = text
    this.#root = root ?? this
  }

  /** This text followed by `piece`. */
  append(piece: string): InternedSql {
    let appended = this.#continuations.get(piece)
    if (appended === undefined) {
      const root = this.#root
      if (root.#texts === MAX_TEXTS) {
        root.#continuations.clear()
        root.#texts = 0
      }
      root.#texts++
      appended = new InternedSql(this.text + piece, root)
      this.#continuations.set(piece, appended)
    }
    return appended
  }
}
