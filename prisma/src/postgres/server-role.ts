import pg from 'pg'

/** What a server is at present. */
export interface Role {
  isStandby: boolean
  isReadOnly: boolean
}

/** SQL expressions for the columns of a {@link Role}. */
export const ROLE = `pg_is_in_recovery() AS "isStandby", current_setting('transaction_read_only') = 'on' AS "isReadOnly"`

/** An address, with a role or the reason why the server did not answer. */
export interface Answer {
  host: string
  port: number
  role?: Role
  error?: unknown
}

/** Asks a server for its role, on a connection of its own. Never rejects. */
export async function ask(url: string, limitMs: number): Promise<Answer> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'resource-service',
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs,
  })
  client.on('error', () => {})
  const { host, port } = client
  try {
    await client.connect()
    const { rows } = await client.query(`SELECT ${ROLE}`)
    return { host, port, role: rows[0] }
  } catch (error) {
    return { host, port, error }
  } finally {
    client.end().catch(() => {})
  }
}
