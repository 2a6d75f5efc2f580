import { createHash } from 'node:crypto'

interface Numbered {
  sql: string
  /** The name of the prepared statement. It follows from the text, so that it means the same in every process. */
  name: string
}

// A service has some hundred query shapes, but version lists have any length.
const MAX_TEXTS = 2_000

const cached = new Map<string, Numbered>()

/** Replaces each `?` with `$1`, `$2` and so on, as PostgreSQL requires. */
export function numberParameters(text: string): Numbered {
  const found = cached.get(text)
  if (found !== undefined) return found
  let position = 0
  const sql = text.replace(/\?/g, () => `$${++position}`)
  const statement = { sql, name: createHash('sha256').update(sql).digest('base64url') }
  if (cached.size === MAX_TEXTS) cached.clear()
  cached.set(text, statement)
  return statement
}
