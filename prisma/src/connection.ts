import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { PrismaClient } from '../generated/client.ts'
import { whenUnlocked } from './lock.ts'

const pragmas = `
  PRAGMA busy_timeout = 5000;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
`

const LOCK_WAIT_MS = 5_000

type Connection = Awaited<ReturnType<PrismaBetterSqlite3['connect']>>

/**
 * A Prisma client on one SQLite connection of its own.
 *
 * @param file Path of a database that is in WAL mode already.
 * @param options `readonly`: the connection can neither write nor open a transaction. `lockWaitMs`: how long a
 * transaction waits for a lock that another process holds. `Client`: the client's class, where it is of other models.
 */
export function connect(
  file: string,
  { readonly = false, lockWaitMs = LOCK_WAIT_MS, Client = PrismaClient } = {},
): PrismaClient {
  const adapter = new PrismaBetterSqlite3({ url: file, readonly }, { timestampFormat: 'unixepoch-ms' })
  const open = adapter.connect.bind(adapter)
  let opened = false
  adapter.connect = async () => {
    // A query after $disconnect makes Prisma connect anew, to a file that was let go.
    if (opened) throw new Error('The database is closed.')
    opened = true
    const connection = await open()
    await connection.executeScript(pragmas)
    if (!readonly) await connection.executeScript('PRAGMA busy_timeout = 0') // whenUnlocked waits instead
    connection.startTransaction = readonly ? refuseTransaction : startWith(connection, lockWaitMs)
    return connection
  }
  return new Client({ adapter })
}

/**
 * Transactions that take the write lock at their start. The adapter's own plain BEGIN takes it at the first write,
 * where SQLite does not wait for another process: whoever read before it did is told that the database is busy.
 */
function startWith(connection: Connection, lockWaitMs: number): Connection['startTransaction'] {
  const start = connection.startTransaction.bind(connection)
  return async (isolationLevel) => {
    const transaction = await start(isolationLevel)
    try {
      await connection.executeScript('COMMIT')
      await whenUnlocked(lockWaitMs, isLocked, () => connection.executeScript('BEGIN IMMEDIATE'))
      return transaction
    } catch (error) {
      // Lets the next transaction in; there is none open that SQLite could roll back.
      await transaction.rollback()
      throw error
    }
  }
}

function isLocked(error: unknown): boolean {
  return (error as { cause?: { kind?: string } }).cause?.kind === 'SocketTimeout'
}

// Every query of a connection runs inside its open transaction, so one here would show all other readers an old state.
async function refuseTransaction(): Promise<never> {
  throw new Error('Transactions belong to Database.write: the read connection has none.')
}
