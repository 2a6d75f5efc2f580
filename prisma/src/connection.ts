import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { PrismaClient } from '../generated/client.ts'
import { retryWhileLocked } from './lock.ts'

const pragmas = `
  PRAGMA busy_timeout = 5000;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
`

const LOCK_WAIT_MS = 5_000

type Connection = Awaited<ReturnType<PrismaBetterSqlite3['connect']>>

/**
 * A Prisma client with its own single SQLite connection.
 *
 * @param file path of a database that is already in WAL mode
 * @param options `readonly`: the connection can neither write nor open a transaction. `lockTimeoutMs`: how long a
 * transaction waits for a lock that another process holds. `Client`: the client class, for other models.
 */
export function connect(
  file: string,
  { readonly = false, lockTimeoutMs = LOCK_WAIT_MS, Client = PrismaClient } = {},
): PrismaClient {
  const adapter = new PrismaBetterSqlite3({ url: file, readonly }, { timestampFormat: 'unixepoch-ms' })
  const open = adapter.connect.bind(adapter)
  let opened = false
  adapter.connect = async () => {
    // A query after $disconnect makes Prisma reconnect to the released file.
    if (opened) throw new Error('The database is closed.')
    opened = true
    const connection = await open()
    await connection.executeScript(pragmas)
    if (!readonly) await connection.executeScript('PRAGMA busy_timeout = 0') // retryWhileLocked waits instead
    connection.startTransaction = readonly ? rejectTransaction : startWith(connection, lockTimeoutMs)
    return connection
  }
  return new Client({ adapter })
}

/**
 * Transactions that take the write lock at their start. The adapter's plain BEGIN takes it at the first write. If the
 * transaction has already read, SQLite does not wait for another process there and fails with SQLITE_BUSY.
 */
function startWith(connection: Connection, lockTimeoutMs: number): Connection['startTransaction'] {
  const start = connection.startTransaction.bind(connection)
  return async (isolationLevel) => {
    const transaction = await start(isolationLevel)
    try {
      await connection.executeScript('COMMIT')
      await retryWhileLocked(lockTimeoutMs, isLocked, () => connection.executeScript('BEGIN IMMEDIATE'))
      return transaction
    } catch (error) {
      // Releases the adapter's lock for the next transaction; SQLite itself has no open transaction here.
      await transaction.rollback()
      throw error
    }
  }
}

function isLocked(error: unknown): boolean {
  return (error as { cause?: { kind?: string } }).cause?.kind === 'SocketTimeout'
}

// Every query of a connection runs inside its open transaction, so a transaction here would show an old state to all readers.
async function rejectTransaction(): Promise<never> {
  throw new Error('Transactions are not supported on the read connection: use Database.write.')
}
