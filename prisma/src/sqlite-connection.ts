import Sqlite from 'better-sqlite3'
import { Broken, Busy, DISK_FAILED, ForeignKeyFault, Full, UniqueViolation } from './errors.ts'
import type { Executor } from './sql-table.ts'
import { type Insertion, numeric, type Statement } from './sql-text.ts'

const READ_LOCK_WAIT_MS = 5_000
// At most twice as many are kept. A service has some hundred shapes of query, and lists of versions have any length.
const RECENT_STATEMENTS = 250

// A bare `?` beside an ORDER BY or in a LIMIT lets SQLite plan by its value, so that each new value prepares the statement
// anew: 24 µs for a page of 20 rows where this takes 13. The plus does nothing, to text neither, and hides the value.
const STABLE_VALUE = '+?'

// SqliteLog brings into the file what was committed; SQLite does that itself where the log has become so long that something
// must be wrong.
const PRAGMAS = ['journal_mode = WAL', 'wal_autocheckpoint = 100000', 'foreign_keys = ON']

/** A connection to a SQLite file that is in WAL mode already, with its prepared statements. */
export class SqliteConnection implements Executor {
  readonly isRemote = false
  readonly #sqlite: Sqlite.Database
  #recent = new Map<string, Sqlite.Statement<unknown[]>>()
  #older = this.#recent

  /**
   * @param options `readonly`: it cannot write. One that can write does not wait for locks: who uses it has to. `syncs`: a
   * commit waits for the disk, before any other connection sees it; otherwise who uses it has to bring it there.
   */
  constructor(file: string, { readonly = false, syncs = false } = {}) {
    this.#sqlite = new Sqlite(file, { readonly, timeout: readonly ? READ_LOCK_WAIT_MS : 0 })
    for (const pragma of PRAGMAS) this.#sqlite.pragma(pragma)
    this.#sqlite.pragma(`synchronous = ${syncs ? 'FULL' : 'NORMAL'}`)
  }

  all({ text, values }: Statement): unknown[] {
    try {
      return this.#prepared(text).all(values.map(numeric))
    } catch (error) {
      throw this.#fault(error)
    }
  }

  run({ text, values }: Statement): number {
    try {
      return this.#prepared(text).run(values.map(numeric)).changes
    } catch (error) {
      throw this.#fault(error)
    }
  }

  insert({ text }: Insertion, rows: unknown[][], first: number): number[] {
    const ids: number[] = []
    try {
      const statement = this.#prepared(text)
      for (const values of rows) ids.push(statement.run(values.map(numeric)).lastInsertRowid as number)
      return ids
    } catch (error) {
      throw this.#fault(error, first + ids.length)
    }
  }

  /** False when SQLite undid the transaction by itself. */
  get inTransaction(): boolean {
    return this.#sqlite.inTransaction
  }

  /** Ends what is open of a transaction, if anything is. */
  rollback(): void {
    if (this.inTransaction) this.#sqlite.exec('ROLLBACK')
  }

  close(): void {
    this.#sqlite.close()
  }

  #prepared(text: string): Sqlite.Statement<unknown[]> {
    const known = this.#recent.get(text)
    if (known !== undefined) return known
    const statement = this.#older.get(text) ?? this.#sqlite.prepare(text.replaceAll('?', STABLE_VALUE))
    if (this.#recent.size === RECENT_STATEMENTS) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(text, statement)
    return statement
  }

  #fault(error: unknown, index = 0): unknown {
    if (!this.#sqlite.open) return new Error('The database is closed.', { cause: error })
    if (!(error instanceof Sqlite.SqliteError)) return error
    if (error.code.startsWith('SQLITE_BUSY')) return new Busy('Another process holds the database.', { cause: error })
    if (error.code.startsWith('SQLITE_IOERR')) return new Broken(DISK_FAILED, { cause: error })
    if (error.code === 'SQLITE_FULL') return new Full('The disk is full.', { cause: error })
    // A restricted delete has the code of a trigger.
    if (error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY' || error.code === 'SQLITE_CONSTRAINT_TRIGGER') {
      return new ForeignKeyFault({ cause: error })
    }
    if (error.code !== 'SQLITE_CONSTRAINT_UNIQUE' && error.code !== 'SQLITE_CONSTRAINT_PRIMARYKEY') return error
    // "UNIQUE constraint failed: users.email_key"
    const columns = error.message.match(/(?<=\.)\w+/g) ?? []
    return new UniqueViolation(columns, { index, cause: error })
  }
}
