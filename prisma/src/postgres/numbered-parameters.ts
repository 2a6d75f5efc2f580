interface Numbered {
  sql: string
  /** The name of the prepared statement; absent when the limit of names is reached. */
  name?: string
}

// A service has some hundred query shapes, but version lists have any length. Each connection keeps its named statements.
const MAX_NAMES = 500

const cached = new Map<string, Numbered>()

/** Replaces each `?` with `$1`, `$2` and so on, as PostgreSQL requires. */
export function numberParameters(text: string): Numbered {
  const found = cached.get(text)
  if (found !== undefined) return found
  let position = 0
  const sql = text.replace(/\?/g, () => `$${++position}`)
  if (cached.size === MAX_NAMES) return { sql }
  const statement = { sql, name: `s${cached.size}` }
  cached.set(text, statement)
  return statement
}
