/** What every peer takes from its environment, as the service does. */
export const port = Number(process.env.PORT)

/** Whether it does what the service does around each request: see `equipment/`. */
export const isEquipped = process.env.EQUIPPED !== undefined

/** `file:` and a path, or a PostgreSQL URL. */
export const databaseUrl = String(process.env.DATABASE_URL)

export const engine = databaseUrl.startsWith('file:') ? 'sqlite' : 'postgresql'

/** Path of the SQLite file. */
export const databaseFile = databaseUrl.slice('file:'.length)

/** The same for every program: node-postgres's own default. */
export const poolSize = 10
