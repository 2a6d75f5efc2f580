/** The values used most recently, by key: at least `max` of them, at most twice as many. */
export class Recent<Key, Value> {
  readonly #max: number
  #recent = new Map<Key, Value>()
  #older = this.#recent

  constructor(max: number) {
    this.#max = max
  }

  /** @param make makes the value of a key that is not kept */
  get(key: Key, make: (key: Key) => Value): Value {
    const known = this.#recent.get(key)
    if (known !== undefined) return known
    const value = this.#older.get(key) ?? make(key)
    if (this.#recent.size === this.#max) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(key, value)
    return value
  }
}
