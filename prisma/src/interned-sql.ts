/**
 * SQL text built from interned pieces: the same pieces return the same string object each time. A map with the text as key,
 * such as the cache of prepared statements, then compares addresses instead of characters. Texts are never freed, so the
 * pieces must come from a small set: column names, but never values.
 */
export class InternedSql {
  readonly text: string
  readonly #continuations = new Map<string, InternedSql>()

  constructor(text: string) {
    this.text = text
  }

  /** This text followed by `piece`. */
  append(piece: string): InternedSql {
    let appended = this.#continuations.get(piece)
    if (appended === undefined) {
      appended = new InternedSql(this.text + piece)
      this.#continuations.set(piece, appended)
    }
    return appended
  }
}
