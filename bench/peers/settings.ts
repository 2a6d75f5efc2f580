// Environment variables of the peers, the same as those of the service.
export const port = Number(process.env.PORT)

/** Whether to run the equipped variant: see `equipment/`. */
export const isEquipped = process.env.EQUIPPED !== undefined

/** `file:PATH` for SQLite, or a PostgreSQL URL. */
export const databaseUrl = String(process.env.DATABASE_URL)

export const engine = databaseUrl.startsWith('file:') ? 'sqlite' : 'postgresql'

/** Path of the SQLite file. */
export const databaseFile = databaseUrl.slice('file:'.length)

/** node-postgres's default, the same for every program. */
export const poolSize = 10
