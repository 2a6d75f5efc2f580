import Sqlite from 'better-sqlite3'
import {
  Busy,
  Damaged,
  DISK_FAILED,
  DiskFull,
  DurabilityLost,
  ForeignKeyFault,
  ReadOnly,
  UniqueViolation,
  Unusable,
} from '../errors.ts'
import { Recent } from '../recent.ts'
import type { Executor, RawResult } from '../tables/executor.ts'
import { type Insertion, numeric, type Statement } from '../tables/sql.ts'

// PostgreSQL's largest integer. SQLite would go on, with ids that no contract allows.
const MAX_ID = 2_147_483_647
const READ_LOCK_WAIT_MS = 5_000
// A service has some hundred query shapes, but version lists have any length.
const RECENT_STATEMENTS = 250

// With a bare `?` and an ORDER BY, or in a LIMIT, SQLite plans by its value and prepares the statement again for each new
// value: a page of 20 rows then takes 24 instead of 13 µs. A unary plus has no effect, on text either, but hides the value.
const OPAQUE_PLACEHOLDER = '+?'

// The Wal class runs the checkpoints. SQLite's own checkpoint is a fallback for a log so long that something must be wrong.
const PRAGMAS = ['journal_mode = WAL', 'wal_autocheckpoint = 100000', 'foreign_keys = ON']

/** A prepared statement, and whether it changes rows: the property of the statement itself is slow. */
interface Prepared {
  statement: Sqlite.Statement<unknown[]>
  writes: boolean
}

/** A connection to a SQLite file that is already in WAL mode, with its prepared statements. */
export class SqliteConnection implements Executor {
  readonly isRemote = false
  readonly #sqlite: Sqlite.Database
  readonly #statements = new Recent<string, Prepared>(RECENT_STATEMENTS)
  /** The number of rows that this connection has changed so far, including changes that were rolled back. */
  changedRows = 0
  readonly #prepare = (text: string): Prepared => {
    const statement = this.#sqlite.prepare<unknown[]>(withOpaquePlaceholders(text))
    return { statement, writes: !statement.readonly }
  }

  /**
   * @param options `readonly`: opens a read-only connection. A writable one does not wait for locks; the caller retries.
   * `syncs`: a commit is synced to disk before other connections see it; without it the caller syncs the log.
   */
  constructor(file: string, { readonly = false, syncs = false } = {}) {
    this.#sqlite = new Sqlite(file, { readonly, fileMustExist: true, timeout: readonly ? READ_LOCK_WAIT_MS : 0 })
    for (const pragma of PRAGMAS) this.#sqlite.pragma(pragma)
    this.#sqlite.pragma(`synchronous = ${syncs ? 'FULL' : 'NORMAL'}`)
  }

  all({ text, values }: Statement): unknown[] {
    try {
      const { statement, writes } = this.#prepared(text)
      const rows = statement.all(values.map(numeric))
      if (writes) this.changedRows += rows.length
      return rows
    } catch (error) {
      throw this.#converted(error)
    }
  }

  /** Runs a statement without values. */
  exec(text: string): void {
    this.run({ text, values: [] })
  }

  run({ text, values }: Statement): number {
    try {
      const { changes } = this.#prepared(text).statement.run(values.map(numeric))
      this.changedRows += changes
      return changes
    } catch (error) {
      throw this.#converted(error)
    }
  }

  raw({ text, values }: Statement): RawResult {
    try {
      const statement = this.#sqlite.prepare(text)
      const bound = values.map(numeric)
      if (!statement.reader) {
        const { changes: count } = statement.run(bound)
        this.changedRows += count
        return { columns: [], rows: [], count }
      }
      const columns = statement.columns().map(({ name, type }) => ({ name, type }))
      const rows = statement.raw().all(bound) as unknown[][]
      if (!statement.readonly) this.changedRows += rows.length
      return { columns, rows, count: rows.length }
    } catch (error) {
      throw this.#converted(error)
    }
  }

  insert(insertion: Insertion, rows: unknown[][], first: number): number[] {
    const ids = (rows.length > 1 && this.#insertTogether(insertion, rows)) || this.#insertEach(insertion, rows, first)
    if ((ids.at(-1) ?? 0) > MAX_ID) throw new Unusable('a table has no ids left')
    return ids
  }

  /** Rows of one statement become one part of a search index: their insertion takes half as long. Undefined if one of them is refused. */
  #insertTogether({ text, columns }: Insertion, rows: unknown[][]): number[] | undefined {
    const another = `, (${columns.map(() => '?').join(', ')})`
    try {
      const { statement } = this.#prepared(text + another.repeat(rows.length - 1))
      const last = statement.run(rows.flat().map(numeric)).lastInsertRowid as number
      this.changedRows += rows.length
      return rows.map((_, index) => last - rows.length + 1 + index)
    } catch (error) {
      // Nothing was inserted. Row by row, the error names its row.
      if (error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_CONSTRAINT')) return undefined
      throw this.#converted(error)
    }
  }

  #insertEach({ text }: Insertion, rows: unknown[][], first: number): number[] {
    const ids: number[] = []
    try {
      const { statement } = this.#prepared(text)
      for (const values of rows) ids.push(statement.run(values.map(numeric)).lastInsertRowid as number)
      return ids
    } catch (error) {
      throw this.#converted(error, first + ids.length)
    } finally {
      this.changedRows += ids.length
    }
  }

  /** False after an error for which SQLite rolled the transaction back itself. */
  get inTransaction(): boolean {
    return this.#sqlite.inTransaction
  }

  /** Rolls back the open transaction, if any. */
  rollback(): void {
    if (this.inTransaction) this.#sqlite.exec('ROLLBACK')
  }

  close(): void {
    this.#sqlite.close()
  }

  #prepared(text: string): Prepared {
    return this.#statements.get(text, this.#prepare)
  }

  #converted(error: unknown, index = 0): unknown {
    if (!this.#sqlite.open) return new Error('The database is closed.', { cause: error })
    return fromSqlite(error, index)
  }
}

/** The text as SQLite prepares it. */
export function withOpaquePlaceholders(text: string): string {
  return text.replaceAll('?', OPAQUE_PLACEHOLDER)
}

/**
 * Converts an error of SQLite to one of this package.
 *
 * @param index of the row that an insert of several rows failed at
 */
export function fromSqlite(error: unknown, index = 0): unknown {
  if (!(error instanceof Sqlite.SqliteError)) return error
  if (error.code.startsWith('SQLITE_BUSY'))
    return new Busy('Another process holds the lock of the database.', { cause: error })
  if (error.code.startsWith('SQLITE_IOERR')) return new DurabilityLost(DISK_FAILED, { cause: error })
  if (error.code.startsWith('SQLITE_CORRUPT') || error.code === 'SQLITE_NOTADB') return new Damaged({ cause: error })
  // Without a suffix it is a write on a connection for reads.
  if (error.code.startsWith('SQLITE_READONLY_')) return new ReadOnly('its file cannot be written', { cause: error })
  if (/^SQLITE_(?:CANTOPEN|NOMEM|PROTOCOL)/.test(error.code))
    return new Busy('SQLite lacks resources.', { cause: error })
  if (error.code === 'SQLITE_FULL') return new DiskFull('The disk is full.', { cause: error })
  // For a restricted delete SQLite reports the code of a trigger.
  if (error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY' || error.code === 'SQLITE_CONSTRAINT_TRIGGER') {
    return new ForeignKeyFault({ cause: error })
  }
  if (error.code !== 'SQLITE_CONSTRAINT_UNIQUE' && error.code !== 'SQLITE_CONSTRAINT_PRIMARYKEY') return error
  // "UNIQUE constraint failed: users.email_key"
  const columns = error.message.match(/(?<=\.)\w+/g) ?? []
  return new UniqueViolation(columns, { index, cause: error })
}
