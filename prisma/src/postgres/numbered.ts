interface Numbered {
  sql: string
  /** What the statement is prepared as; statements that would be too many have none. */
  name?: string
}

// A service has some hundred shapes of query; lists of versions have any length. Each connection keeps what has a name.
const MOST_NAMES = 500

const known = new Map<string, Numbered>()

/** A statement with `$1`, `$2` in the place of each `?`, as PostgreSQL takes it. */
export function numbered(text: string): Numbered {
  const before = known.get(text)
  if (before !== undefined) return before
  let place = 0
  const sql = text.replace(/\?/g, () => `$${++place}`)
  if (known.size === MOST_NAMES) return { sql }
  const made = { sql, name: `s${known.size}` }
  known.set(text, made)
  return made
}
