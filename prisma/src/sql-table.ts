import { setImmediate } from 'node:timers/promises'
import type { AuditEntry } from '../generated/client.ts'
import {
  type Audit,
  type AuditContext,
  type AuditedChange,
  type AuditedStatement,
  auditEntries,
  withAuditInsert,
} from './audit.ts'
import { keysetRanges, type Position } from './keyset.ts'
import { type References, referencesOf, type Siblings } from './references.ts'
import { BEFORE, type Insertion, SqlText, type Statement } from './sql-text.ts'
import {
  type Change,
  type Changes,
  type Columns,
  type Entity,
  isUnchanged,
  type Kind,
  type NewRow,
  type PageQuery,
  type RecordTable,
  type Where,
} from './table.ts'
import { type Declarations, declarations, mapDeclarations } from './tables.ts'

type Stored = Record<string, unknown>
type Awaitable<T> = T | Promise<T>

/** Runs SQL with `?` for each value on one connection. Dates and booleans go in as they are and may come back as numbers. */
export interface Executor {
  /** Whether each statement is a journey to a server: then one does where it can, and nobody here waits for it. */
  readonly isRemote: boolean
  /** Whether the error of a foreign key says which of several rows it refuses. */
  readonly namesRow?: boolean | undefined
  all(statement: Statement): Awaitable<unknown[]>
  /** @returns how many rows were written */
  run(statement: Statement): Awaitable<number>
  /**
   * @param rows the values of each, in the order of the insertion's columns
   * @param first the index of the first of them among all that are stored
   * @param complete what is made of the statement
   * @returns the ids of the rows, in their order
   * @throws UniqueViolation with the index of the first row that cannot be stored
   */
  insert(
    insertion: Insertion,
    rows: unknown[][],
    first: number,
    complete?: (statement: Statement, answer: string) => Statement,
  ): Awaitable<number[]>
}

/**
 * Runs a piece of the database's work, with something around it.
 *
 * @param operation `find`, `insertMany`, `transaction`
 * @param table `users`; empty of a transaction, which may be of several
 */
export type Around = <T>(operation: string, table: string, run: () => Promise<T>) => Promise<T>

interface TableOptions {
  /** Runs each query of a table. */
  around?: Around | undefined
  /** What the audit log records of the changes; nothing when absent. */
  audit?: AuditContext | undefined
}

// On SQLite a few milliseconds, in which nobody else is served.
const ROWS_REMOVED_AT_ONCE = 500
// With their audit entries about as long.
const AUDITED_ROWS_REMOVED_AT_ONCE = 250
const ROWS_INSERTED_AT_ONCE = 100
const ROWS_ENTERED_AT_ONCE = 10_000
const ROWS_SKIPPED_AT_ONCE = 2_000
const LONGEST_STEP_MS = 40
const IDS_COUNTED_AT_ONCE = 50_000

/** Every table, through an executor. */
export const sqlTables = sqlTablesOf(declarations)

/** Gives the tables of some declarations, through an executor. */
export function sqlTablesOf<All>(declarations: Declarations<All>): (executor: Executor, options?: TableOptions) => All {
  const references = referencesOf(declarations)
  const facts = (isRemote: boolean) =>
    mapDeclarations(declarations, (declaration, name) => ({
      name,
      columns: declaration.columns,
      text: new SqlText(declaration, isRemote),
      references: references[name],
    }))
  let local: ReturnType<typeof facts> | undefined
  let remote: typeof local
  return (executor, options = {}) => {
    if (executor.isRemote) remote ??= facts(true)
    else local ??= facts(false)
    const ofEngine = (executor.isRemote ? remote : local) as ReturnType<typeof facts>
    const session: Session = { executor, tables: {}, ...options }
    for (const name in ofEngine) session.tables[name] = new SqlTable(ofEngine[name], session)
    return session.tables as All
  }
}

/** What is known of a table. */
interface Facts<Row> {
  name: PropertyKey
  columns: Columns<Row>
  text: SqlText<Row>
  references: References
}

/** What the tables of a transaction, or of all reads, have in common. */
interface Session extends TableOptions {
  executor: Executor
  // biome-ignore lint/suspicious/noExplicitAny: each table has a row of its own
  tables: Record<PropertyKey, SqlTable<any>>
}

class SqlTable<Row extends Entity> implements RecordTable<Row> {
  readonly columns: Columns<Row>
  readonly #text: SqlText<Row>
  readonly #references: References
  readonly #session: Session
  readonly #executor: Executor
  readonly #audit: Audit | undefined

  constructor({ name, columns, text, references }: Facts<Row>, session: Session) {
    this.columns = columns
    this.#text = text
    this.#references = references
    this.#session = session
    this.#executor = session.executor
    const { audit } = session
    const audited = audit?.tables[name]
    this.#audit = audit && audited && { shared: audit.shared, ...audited }
  }

  find<Column extends keyof Row = keyof Row>(
    where: Where<Row>,
    columns?: readonly Column[],
  ): Promise<Pick<Row, Column> | undefined> {
    return this.#observed('find', () => this.#find(where, columns))
  }

  page<Column extends keyof Row = keyof Row>(query: PageQuery<Row, Column>): Promise<Pick<Row, Column>[]> {
    return this.#observed('page', () => this.#page(query))
  }

  /** On SQLite a long count is taken in parts, between which others may write: it is exact while nobody does. */
  count(where: Where<Row>): Promise<number> {
    return this.#observed('count', () => this.#count(where))
  }

  async insert(row: NewRow<Row>): Promise<Row> {
    return (await this.#recorded('insert', () => this.#insertMany([row]), ofInserted))[0] as Row
  }

  insertMany(rows: NewRow<Row>[]): Promise<Row[]> {
    return this.#recorded('insertMany', () => this.#insertMany(rows), ofInserted)
  }

  update(id: number, versions: number[] | undefined, changes: Changes<Row>): Promise<Change<Row> | undefined> {
    return this.#recorded(
      'update',
      () => this.#update(id, versions, changes),
      (change) =>
        change === undefined || change.after.version === change.before.version ? [] : [{ ...change, written: changes }],
    )
  }

  async delete(id: number, versions: number[] | undefined): Promise<Row | undefined> {
    const remove = () => this.#remove(this.#text.deleteReturning(id, versions), async () => [id])
    const recorded = () => this.#recorded('delete', remove, ofRemoved)
    if (!this.#recordsCascades) return (await recorded())[0]
    const rows = await this.#chosen({ id, version: versions && { in: versions } } as Where<Row>, 1)
    return (await this.#deleteCascading(rows, recorded))[0]
  }

  async deleteSome(where: Where<Row>, most: number): Promise<Row[]> {
    const recorded = (where: Where<Row>) => {
      const remove = () => this.#remove(this.#text.deleteSomeReturning(where, most), () => this.#chosenIds(where, most))
      return this.#recorded('deleteSome', remove, ofRemoved)
    }
    if (!this.#recordsCascades) return recorded(where)
    const rows = await this.#chosen(where, most)
    return this.#deleteCascading(rows, () => recorded({ id: { in: idsOf(rows) } } as object as Where<Row>))
  }

  async deleteAll(where: Where<Row>): Promise<number> {
    if (this.#localAudit === undefined && !this.#recordsCascades) {
      return this.#observed('deleteAll', () => this.#deleteAll(where))
    }
    for (let total = 0; ; await setImmediate()) {
      const { length } = await this.deleteSome(where, AUDITED_ROWS_REMOVED_AT_ONCE)
      total += length
      if (length < AUDITED_ROWS_REMOVED_AT_ONCE) return total
    }
  }

  /** Whether the rows that ON DELETE CASCADE removes are recorded. */
  get #recordsCascades(): boolean {
    return this.#session.audit !== undefined && this.#references.cascades.length > 0
  }

  /** Deletes rows, which are locked, and records those that go with them. */
  async #deleteCascading(rows: Row[], remove: () => Promise<Row[]>): Promise<Row[]> {
    const going = new Map<SqlTable<Entity>, Map<number, Entity>>()
    const own = new Map(rows.map((row) => [row.id, row]))
    await this.#addCascades(rows, going.set(this as never, own))
    // The others are among those that SQLite removed with them.
    for (const { id } of await remove()) own.delete(id)
    for (const [table, gone] of going) {
      if (table.#audit !== undefined) await table.#enter(table.#audit, ofRemoved([...gone.values()]))
    }
    return rows
  }

  /** Adds the rows that go with some, and with those. */
  async #addCascades(rows: Row[], going: Map<SqlTable<Entity>, Map<number, Entity>>): Promise<void> {
    const ids = idsOf(rows)
    for (const { table, column } of this.#references.cascades) {
      const referring = this.#session.tables[table] as SqlTable<Entity>
      const known = going.get(referring) ?? new Map<number, Entity>()
      going.set(referring, known)
      const found = (await referring.#chosen({ [column]: { in: ids } })).filter(({ id }) => !known.has(id))
      for (const row of found) known.set(row.id, row)
      if (found.length > 0) await referring.#addCascades(found, going)
    }
  }

  #observed<T>(operation: string, run: () => Promise<T>): Promise<T> {
    const { around } = this.#session
    return around === undefined ? run() : around(operation, this.#text.insertion.table, run)
  }

  /** What is recorded by statements of its own, and not by those of the changes. */
  get #localAudit(): Audit | undefined {
    return this.#executor.isRemote ? undefined : this.#audit
  }

  /** Runs a change, and records it where its own statement does not. */
  #recorded<T>(operation: string, run: () => Promise<T>, changesOf: (result: T) => AuditedChange[]): Promise<T> {
    const result = this.#observed(operation, run)
    return this.#localAudit === undefined ? result : this.#record(this.#localAudit, result, changesOf)
  }

  async #record<T>(audit: Audit, running: Promise<T>, changesOf: (result: T) => AuditedChange[]): Promise<T> {
    const result = await running
    await this.#enter(audit, changesOf(result))
    return result
  }

  async #enter(audit: Audit, changes: AuditedChange[]): Promise<void> {
    const entries = this.#session.tables.auditEntries as SqlTable<AuditEntry & Entity>
    if (changes.length > 0) await entries.insertMany(auditEntries(audit, changes))
  }

  /** Extends a statement of PostgreSQL that returns the rows it writes: it also records them. */
  #withAudit(statement: Statement, rows: AuditedStatement): Statement {
    if (this.#audit === undefined || !this.#executor.isRemote) return statement
    return withAuditInsert(statement, this.columns as Record<string, Kind>, this.#audit, rows)
  }

  async #find<Column extends keyof Row>(
    where: Where<Row>,
    columns?: readonly Column[],
  ): Promise<Pick<Row, Column> | undefined> {
    const rows = this.#rows(this.#text.find(where, columns))
    return (rows instanceof Promise ? await rows : rows)[0]
  }

  async #page<Column extends keyof Row>(query: PageQuery<Row, Column>): Promise<Pick<Row, Column>[]> {
    const { beyond, skip = 0, take } = query
    if (skip > ROWS_SKIPPED_AT_ONCE && !this.#executor.isRemote) return this.#farPage(query)
    if (beyond === undefined) return this.#rows(this.#text.page(query))
    if (this.#executor.isRemote && beyond.length > 1) return this.#rows(this.#text.pageOfRanges(query, beyond))
    let rows: Row[] = []
    for (const range of beyond) {
      if (rows.length === take) break
      rows = rows.concat(await this.#rows(this.#text.page({ ...query, take: take - rows.length }, range)))
    }
    return rows
  }

  // On SQLite rows are skipped key by key: the longest single statement reads so many.
  async #farPage<Column extends keyof Row>({ skip = 0, ...query }: PageQuery<Row, Column>) {
    const { where, order } = query
    const columns = [...new Set<keyof Row>(['id', order.column])]
    let { beyond } = query
    for (let left = skip; left > 0; await setImmediate()) {
      const take = Math.min(left, ROWS_SKIPPED_AT_ONCE)
      const begun = performance.now()
      const rows = await this.#page({ columns, where, order, beyond, take })
      // Where no index has the order, each step sorts all that matches: then one statement costs least.
      if (performance.now() - begun > LONGEST_STEP_MS) return this.#rows(this.#text.page({ ...query, skip }))
      const last = rows[take - 1]
      if (last === undefined) return []
      const position = { id: last.id, key: last[order.column] as Position['key'] }
      beyond = keysetRanges(where, order, this.columns[order.column], position)
      left -= take
    }
    return this.#page({ ...query, beyond })
  }

  async #count(where: Where<Row>): Promise<number> {
    const largest = this.#executor.isRemote || !('id' in this.columns) ? 0 : await this.#largestId()
    if (largest <= IDS_COUNTED_AT_ONCE) return this.#countAtOnce(where)
    let total = 0
    for (let first = 0; first < largest; first += IDS_COUNTED_AT_ONCE) {
      if (first > 0) await setImmediate()
      // Rows that come meanwhile have larger ids.
      const isLast = first + IDS_COUNTED_AT_ONCE >= largest
      const ids = { gt: first, lte: isLast ? undefined : first + IDS_COUNTED_AT_ONCE }
      total += await this.#countAtOnce(where, { id: ids } as Where<Row>)
    }
    return total
  }

  async #largestId(): Promise<number> {
    const order = { column: 'id', descending: true } as const
    return (await this.#page({ columns: ['id'], where: {}, order, take: 1 }))[0]?.id ?? 0
  }

  async #countAtOnce(where: Where<Row>, range?: Where<Row>): Promise<number> {
    const [row] = (await this.#executor.all(this.#text.count(where, range))) as [{ total: number | string }]
    return Number(row.total)
  }

  async #insertMany(rows: NewRow<Row>[]): Promise<Row[]> {
    const { columns } = this.#text.insertion
    const values = rows.map((row) => columns.map(({ name }) => storedValue(row, name)))
    // On SQLite each row is a statement, and those before the one that fails would be stored.
    if (rows.length > 1 && !this.#executor.namesRow) await this.#references.check(rows, this.#siblings)
    try {
      const ids = await this.#insert(values)
      return values.map((values, index) => this.#inserted(ids[index] as number, values))
    } catch (error) {
      throw await this.#references.ofInsert(error, rows, this.#siblings)
    }
  }

  async #update(id: number, versions: number[] | undefined, changes: Changes<Row>): Promise<Change<Row> | undefined> {
    try {
      if (this.#executor.isRemote) {
        const update = this.#text.updateReturning(id, versions, changes)
        const [row] = await this.#executor.all(this.#withAudit(update, { before: BEFORE, after: '', changes }))
        return row === undefined ? undefined : this.#change(row as Stored)
      }
      // Nobody else writes meanwhile.
      const [before] = await this.#rows(this.#text.find({ id } as Where<Row>))
      if (before === undefined || versions?.includes(before.version) === false) return undefined
      if (isUnchanged(before, changes)) return { before, after: before }
      await this.#executor.run(this.#text.update(id, changes))
      return { before, after: changed(before, changes) }
    } catch (error) {
      throw await this.#references.ofUpdate(error, changes, this.#siblings)
    }
  }

  /**
   * @param statement returns the rows that it deletes
   * @param ids gives those of the rows, for an error to be explained by
   */
  async #remove(statement: Statement, ids: () => Promise<number[]>): Promise<Row[]> {
    try {
      return await this.#rows(this.#withAudit(statement, { before: '' }))
    } catch (error) {
      throw await this.#references.ofDelete(error, ids, this.#siblings)
    }
  }

  async #deleteAll(where: Where<Row>): Promise<number> {
    try {
      if (this.#audit !== undefined) return await this.#deleteAudited(where)
      if (this.#executor.isRemote) return await this.#executor.run(this.#text.deleteAll(where))
      const some = this.#text.deleteSome(where, ROWS_REMOVED_AT_ONCE)
      for (let total = 0; ; await setImmediate()) {
        const removed = await this.#executor.run(some)
        total += removed
        if (removed < ROWS_REMOVED_AT_ONCE) return total
      }
    } catch (error) {
      throw await this.#references.ofDelete(error, () => this.#chosenIds(where, ROWS_REMOVED_AT_ONCE), this.#siblings)
    }
  }

  // So many at once, for a statement must end within its time.
  async #deleteAudited(where: Where<Row>): Promise<number> {
    const some = this.#text.deleteSomeReturning(where, ROWS_ENTERED_AT_ONCE)
    const counted = this.#withAudit(some, { before: '', answer: 'count(*)::int AS "total"' })
    for (let sum = 0; ; ) {
      const [{ total }] = (await this.#executor.all(counted)) as [{ total: number }]
      sum += total
      if (total < ROWS_ENTERED_AT_ONCE) return sum
    }
  }

  async #chosen(where: Where<Row>, most = Number.MAX_SAFE_INTEGER): Promise<Row[]> {
    return this.#rows(this.#text.chosen(where, most))
  }

  async #chosenIds(where: Where<Row>, most: number): Promise<number[]> {
    return idsOf(await this.#chosen(where, most))
  }

  get #siblings(): Siblings {
    return this.#session.tables as unknown as Siblings
  }

  // What is at hand is not waited for: that is faster.
  #rows(statement: Statement): Awaitable<Row[]> {
    const rows = this.#executor.all(statement) as Awaitable<Stored[]>
    return rows instanceof Promise ? rows.then((rows) => this.#revived(rows)) : this.#revived(rows)
  }

  #revived(rows: Stored[]): Row[] {
    const [first] = rows
    if (first === undefined) return []
    const dates = this.#text.dates.filter((column) => column in first)
    if (dates.length > 0) for (const row of rows) this.#reviveDates(row, dates)
    for (const column of this.#text.bools) {
      if (column in first) for (const row of rows) if (typeof row[column] === 'number') row[column] = row[column] === 1
    }
    return rows as Row[]
  }

  #reviveDates(row: Stored, dates = this.#text.dates): Row {
    for (const column of dates) {
      const value = row[column]
      if (typeof value === 'number') row[column] = new Date(value)
    }
    return row as Row
  }

  #change(row: Stored): Change<Row> {
    const [before, after]: [Stored, Stored] = [{}, {}]
    for (const column in this.columns) {
      before[column] = row[BEFORE + column]
      after[column] = row[column]
    }
    return { before: this.#reviveDates(before), after: this.#reviveDates(after) }
  }

  // Other requests are served in between, as with deleteAll.
  async #insert(values: unknown[][]): Promise<number[]> {
    const { insertion } = this.#text
    if (this.#executor.isRemote || values.length <= ROWS_INSERTED_AT_ONCE) {
      const complete = (statement: Statement, answer: string) => this.#withAudit(statement, { after: '', answer })
      return this.#executor.insert(insertion, values, 0, this.#audit && complete)
    }
    const ids: number[] = []
    for (let first = 0; first < values.length; first += ROWS_INSERTED_AT_ONCE) {
      if (first > 0) await setImmediate()
      const some = values.slice(first, first + ROWS_INSERTED_AT_ONCE)
      ids.push(...(await this.#executor.insert(insertion, some, first)))
    }
    return ids
  }

  #inserted(id: number, values: unknown[]): Row {
    const row: Record<string, unknown> = 'id' in this.columns ? { id } : {}
    for (const [index, { name }] of this.#text.insertion.columns.entries()) row[name] = values[index]
    return row as Row
  }
}

function idsOf(rows: Pick<Entity, 'id'>[]): number[] {
  return rows.map(({ id }) => id)
}

function ofInserted(rows: object[]): AuditedChange[] {
  return rows.map((after) => ({ after, written: after }))
}

function ofRemoved(rows: object[]): AuditedChange[] {
  return rows.map((before) => ({ before }))
}

/** What an update makes of a row, as the statement does it. */
function changed<Row extends Entity>(before: Row, changes: Changes<Row>): Row {
  const after: Row & { updated_at?: Date } = { ...before, version: before.version + 1 }
  const { updated_at: stored } = after
  for (const [column, value] of Object.entries(changes)) {
    if (value !== undefined) Object.assign(after, { [column]: value })
  }
  if (stored !== undefined && after.updated_at !== undefined && after.updated_at < stored) after.updated_at = stored
  return after
}

function storedValue(row: object, column: string): unknown {
  if (column === 'version') return 1
  return (row as Record<string, unknown>)[column] ?? null
}
