/**
 * Text made of pieces. The same pieces give the very same string each time, and not only an equal one: a map that has it
 * as a key, such as that of prepared statements, finds it without reading it. It keeps every text it ever made, so the
 * pieces must be few: names of columns, and never values.
 */
export class TextTree {
  readonly text: string
  readonly #longer = new Map<string, TextTree>()

  constructor(text: string) {
    this.text = text
  }

  /** This text with `piece` after it. */
  and(piece: string): TextTree {
    let longer = this.#longer.get(piece)
    if (longer === undefined) {
      longer = new TextTree(this.text + piece)
      this.#longer.set(piece, longer)
    }
    return longer
  }
}
