import { randomInt } from 'node:crypto'
import { createPacer } from '../pacer.ts'
import { AuditedWrites, ofDeleted, ofInserted, ofRestored, ofUpdated } from './audited-writes.ts'
import type { Awaitable } from './executor.ts'
import type { RelatedTables } from './references.ts'
import {
  atLaterIndex,
  type ChangeOf,
  changed,
  columnsSet,
  type DeleteOf,
  deletesOf,
  idsOf,
  storedValue,
  type Together,
  togetherFrom,
  type Written,
} from './row-writes.ts'
import { type Insertion, quote, type Statement } from './sql.ts'
import { BEFORE, ORDINAL } from './statements.ts'
import {
  type Change,
  type Changes,
  type Entity,
  isUnchanged,
  type NewRow,
  type RecordTable,
  type RowWrite,
  type Where,
  type WrittenRows,
} from './types.ts'

// More rows than a write inserts with one statement.
const MAX_DRY_RUN = 1_000_000
type Stored = Record<string, unknown>

// Rows per statement. On SQLite a batch, with its audit entries if any, blocks the event loop for a few milliseconds.
const INSERT_BATCH = 10
const DELETE_BATCH = 250
// On SQLite each change is two statements and an audit entry.
const LOCAL_TOGETHER = { changes: 1, deletes: DELETE_BATCH }
const REMOTE_TOGETHER = { changes: 1_000, deletes: DELETE_BATCH }

/** A table, whose methods run through an executor. */
export class SqlTable<Row extends Entity> extends AuditedWrites<Row> implements RecordTable<Row> {
  write<W extends readonly RowWrite<Row>[] | []>(rows: W): Promise<WrittenRows<W, Row>>
  async write(given: readonly RowWrite<Row>[]): Promise<unknown> {
    const rows = 'updated_at' in this.columns ? timed(given) : given
    const [row] = rows
    if (row === undefined) return []
    if (rows.length === 1 && !('restore' in row)) return [await this.#writeOne(row)]
    if (rows.some((row) => 'id' in row)) await this.lockFor(rows)
    const written: (Written<Row> | undefined)[] = []
    const pace = createPacer()
    while (written.length < rows.length) {
      await pace()
      const together = togetherFrom(rows, written.length, this.executor.isRemote ? REMOTE_TOGETHER : LOCAL_TOGETHER)
      for (const each of await this.#writeTogether(together, written.length)) written.push(each)
    }
    return written
  }

  /** @param first the index of the first row among all of the write */
  async #writeTogether(rows: Together<Row>, first: number): Promise<(Written<Row> | undefined)[]> {
    if ('creates' in rows) return this.#createMany(rows.creates, first)
    if ('restores' in rows) return this.#restoreMany(rows.restores, first)
    if ('deletes' in rows) return this.#deleteMany(rows.deletes)
    const { changes } = rows
    if (changes.length > 1 && !(await this.collide(changes))) return this.#changeMany(changes)
    const written: (Written<Row> | undefined)[] = []
    for (const change of changes) written.push(await this.#writeOne(change))
    return written
  }

  #writeOne(row: Exclude<RowWrite<Row>, { restore: Row }>): Promise<Written<Row> | undefined> {
    if ('create' in row) return this.#createOne(row.create)
    if ('change' in row) return this.#changeOne(row.id, row.versions, row.change)
    return this.#deleteOne(row.id, row.versions)
  }

  async #createOne(row: NewRow<Row>): Promise<Written<Row>> {
    const [after] = await this.audited(
      this.wrapped('insert', () => this.insertMany([row])),
      ofInserted,
    )
    return { after: after as Row }
  }

  #createMany(rows: NewRow<Row>[], first: number): Promise<Written<Row>[]> {
    const creating = this.wrapped('insertMany', () => this.insertMany(rows))
    return this.#inserted(this.audited(creating, ofInserted), first)
  }

  #restoreMany(rows: Row[], first: number): Promise<Written<Row>[]> {
    const restoring = this.wrapped('restore', () => this.#insertWithIds(rows))
    return this.#inserted(this.audited(restoring, ofRestored), first)
  }

  async #inserted(inserting: Promise<Row[]>, first: number): Promise<Written<Row>[]> {
    const rows = await inserting.catch((error) => {
      throw first === 0 ? error : atLaterIndex(error, first)
    })
    return rows.map((after) => ({ after }))
  }

  async #deleteMany(rows: DeleteOf<Row>[]): Promise<(Written<Row> | undefined)[]> {
    const stored = rows.some(({ versions }) => versions) ? await this.#versionsOf(rows) : undefined
    const fits = ({ id, versions }: DeleteOf<Row>) => versions?.includes(stored?.get(id) ?? 0) !== false
    const where = { id: { in: idsOf(rows.filter(fits)) } } as object as Where<Row>
    const deleted = new Map((await this.#deleteSome(where, rows.length)).map((row) => [row.id, row]))
    return rows.map((row) => {
      const before = fits(row) ? deleted.get(row.id) : undefined
      if (before !== undefined) deleted.delete(row.id)
      return before && { before }
    })
  }

  /** The versions of rows, which are locked. */
  async #versionsOf(rows: DeleteOf<Row>[]): Promise<Map<number, number>> {
    const where = { id: { in: idsOf(rows) } } as object as Where<Row>
    const stored = await this.rows(this.text.idsAndVersions(where, rows.length))
    return new Map(stored.map(({ id, version }) => [id, version]))
  }

  /** Changes the same columns of several rows, which are locked, with one statement of PostgreSQL. */
  async #changeMany(rows: ChangeOf<Row>[]): Promise<(Change<Row> | undefined)[]> {
    const { change } = rows[0] as ChangeOf<Row>
    const statement = this.withAudit(this.text.updateMany(rows), {
      before: BEFORE,
      after: '',
      changes: Object.fromEntries(columnsSet(change).map((column) => [column, true])),
      order: quote(ORDINAL),
    })
    const found = (await this.wrapped('updateMany', async () => this.executor.all(statement)).catch(async (error) => {
      throw await this.references.ofUpdate(error, change, this.#relatedTables)
    })) as Stored[]
    const pace = createPacer()
    const changes = new Map<number, Change<Row>>()
    for (const row of found) {
      await pace()
      changes.set(row.id as number, this.#change(row))
    }
    // PostgreSQL returns them in any order.
    this.record(rows.flatMap(({ id, change }) => ofUpdated(changes.get(id), change)))
    return rows.map(({ id }) => changes.get(id))
  }

  #changeOne(id: number, versions: number[] | undefined, changes: Changes<Row>): Promise<Change<Row> | undefined> {
    return this.audited(
      this.wrapped('update', () => this.#update(id, versions, changes)),
      (change) => ofUpdated(change, changes),
    )
  }

  async #deleteOne(id: number, versions: number[] | undefined): Promise<Written<Row> | undefined> {
    const [before] = await this.#deleteRow(id, versions)
    return before && { before }
  }

  async #deleteRow(id: number, versions: number[] | undefined): Promise<Row[]> {
    const remove = () => this.#remove(this.text.deleteReturning(id, versions), async () => [id])
    const audited = () => this.audited(this.wrapped('delete', remove), ofDeleted)
    if (!this.#auditsCascades) return audited()
    const rows = await this.#matching({ id, version: versions && { in: versions } } as Where<Row>, 1)
    await this.lockFor(deletesOf(rows))
    return this.#deleteCascading(rows, audited)
  }

  /** Deletes at most `limit` matching rows and returns them. */
  async #deleteSome(where: Where<Row>, limit: number): Promise<Row[]> {
    const audited = (where: Where<Row>) => {
      const remove = () =>
        this.#remove(this.text.deleteSomeReturning(where, limit), () => this.#matchingIds(where, limit))
      return this.audited(this.wrapped('deleteSome', remove), ofDeleted)
    }
    if (!this.#auditsCascades) return audited(where)
    const rows = await this.#matching(where, limit)
    await this.lockFor(deletesOf(rows))
    return this.#deleteCascading(rows, () => audited({ id: { in: idsOf(rows) } } as object as Where<Row>))
  }

  async #insertWithIds(rows: object[]): Promise<Row[]> {
    const { restoration } = this.text
    const stored = (row: object, name: string) => Reflect.get(row, name) ?? (name === 'version' ? 1 : null)
    const values = rows.map((row) => restoration.columns.map(({ name }) => stored(row, name)))
    await this.#inserting(rows, () => this.#insert(restoration, values))
    return values.map((values) => rowOf(restoration, values))
  }

  async deleteAll(where: Where<Row>, limit?: number): Promise<number> {
    if (this.audit !== undefined || this.#auditsCascades) {
      throw new Error(`Deletes of ${this.text.insertion.table} are audited: use write.`)
    }
    const remove = async () => this.executor.run(this.text.deleteAll(where, limit))
    return this.wrapped('deleteAll', remove).catch(async (error) => {
      throw await this.references.ofDelete(error, () => this.#matchingIds(where, limit), this.#relatedTables)
    })
  }

  /** Whether rows deleted by ON DELETE CASCADE are audited. */
  get #auditsCascades(): boolean {
    return this.session.audit !== undefined && this.references.cascades.length > 0
  }

  /** Deletes locked rows, and audits the rows that cascade from them. */
  async #deleteCascading(rows: Row[], remove: () => Promise<Row[]>): Promise<Row[]> {
    const deletions = new Map<SqlTable<Entity>, Map<number, Entity>>()
    const own = new Map(rows.map((row) => [row.id, row]))
    await this.#addCascades(rows, deletions.set(this as never, own))
    // `remove` audits the rows it returns. The rest of this table was deleted by a cascade.
    for (const { id } of await remove()) own.delete(id)
    for (const [table, deleted] of deletions) {
      const changes = ofDeleted([...deleted.values()])
      table.record(changes)
      if (table.audit !== undefined && changes.length > 0) await table.insertAudit(table.audit, changes)
    }
    return rows
  }

  /** Adds the rows that cascade from some rows, recursively. */
  async #addCascades(rows: Row[], deletions: Map<SqlTable<Entity>, Map<number, Entity>>): Promise<void> {
    const ids = idsOf(rows)
    for (const { table, column } of this.references.cascades) {
      const referring = this.session.tables[table] as SqlTable<Entity>
      const known = deletions.get(referring) ?? new Map<number, Entity>()
      deletions.set(referring, known)
      const found = (await referring.#matching({ [column]: { in: ids } })).filter(({ id }) => !known.has(id))
      for (const row of found) known.set(row.id, row)
      if (found.length > 0) await referring.#addCascades(found, deletions)
    }
  }

  protected override wrapped<T>(operation: string, run: () => Promise<T>): Promise<T> {
    const { around } = this.session
    return around === undefined ? run() : around(operation, this.text.insertion.table, run)
  }

  protected async insertMany(rows: NewRow<Row>[]): Promise<Row[]> {
    if (this.session.isDryRun && this.executor.isRemote && this.text.insertion.hasId) {
      // PostgreSQL does not take back the ids that a transaction got, and a table has 2^31. Others may run at the same time.
      const first = -randomInt(MAX_DRY_RUN, 2 ** 31)
      return this.#insertWithIds(rows.map((row, index) => ({ ...row, id: first + index })))
    }
    const { columns } = this.text.insertion
    const values = rows.map((row) => columns.map(({ name }) => storedValue(row, name)))
    const ids = await this.#inserting(rows, () => this.#insert(this.text.insertion, values))
    return values.map((values, index) => this.#rowOf(ids[index] as number, values))
  }

  async #inserting(rows: object[], insert: () => Awaitable<number[]>): Promise<number[]> {
    // On SQLite each row is a separate statement, so the rows before a failing one would be stored.
    if (rows.length > 1 && !this.executor.namesRow) await this.references.check(rows, this.#relatedTables)
    try {
      if (rows.length > 1 && this.executor.isRemote) await this.#lockForInsert(rows)
      const inserting = insert()
      return inserting instanceof Promise ? await inserting : inserting
    } catch (error) {
      throw await this.references.ofInsert(error, rows, this.#relatedTables)
    }
  }

  async #lockForInsert(rows: object[]): Promise<void> {
    const { unique } = this.text.insertion
    // The statement inserts the values of the first unique columns in their order.
    if (unique.length > 0)
      await this.executor.run(this.text.lockUniqueValues(unique.length > 1 ? 'exclusive' : 'shared'))
    await this.lockReferenced(rows)
  }

  async #update(id: number, versions: number[] | undefined, changes: Changes<Row>): Promise<Change<Row> | undefined> {
    try {
      if (this.executor.isRemote) {
        const update = this.text.updateReturning(id, versions, changes)
        const [row] = await this.executor.all(this.withAudit(update, { before: BEFORE, after: '', changes }))
        return row === undefined ? undefined : this.#change(row as Stored)
      }
      // SQLite has a single writer: nothing changes between these statements.
      const [before] = await this.rows(this.text.find({ id } as Where<Row>))
      if (before === undefined || versions?.includes(before.version) === false) return undefined
      if (isUnchanged(before, changes)) return { before, after: before }
      await this.executor.run(this.text.update(id, changes))
      return { before, after: changed(before, changes) }
    } catch (error) {
      throw await this.references.ofUpdate(error, changes, this.#relatedTables)
    }
  }

  /**
   * @param statement returns the rows that it deletes
   * @param ids returns the ids of the rows, to explain an error
   */
  async #remove(statement: Statement, ids: () => Promise<number[]>): Promise<Row[]> {
    try {
      return await this.rows(this.withAudit(statement, { before: '' }))
    } catch (error) {
      throw await this.references.ofDelete(error, ids, this.#relatedTables)
    }
  }

  async #matching(where: Where<Row>, limit?: number): Promise<Row[]> {
    return this.rows(this.text.selectForDelete(where, limit))
  }

  async #matchingIds(where: Where<Row>, limit?: number): Promise<number[]> {
    return idsOf(await this.#matching(where, limit))
  }

  get #relatedTables(): RelatedTables {
    return this.session.tables as unknown as RelatedTables
  }

  #change(row: Stored): Change<Row> {
    const [before, after]: [Stored, Stored] = [{}, {}]
    for (const [column, previous] of this.text.changed) {
      before[column] = row[previous]
      after[column] = row[column]
    }
    return { before: this.decodeDates(before), after: this.decodeDates(after) }
  }

  #insert(insertion: Insertion, values: unknown[][]): Awaitable<number[]> {
    if (this.executor.isRemote || values.length <= INSERT_BATCH) {
      const transform = (statement: Statement, returning: string) => this.withAudit(statement, { after: '', returning })
      return this.executor.insert(insertion, values, 0, this.audit && transform)
    }
    return this.#insertInBatches(insertion, values)
  }

  // On SQLite other requests are served between batches.
  async #insertInBatches(insertion: Insertion, values: unknown[][]): Promise<number[]> {
    const ids: number[] = []
    const pace = createPacer()
    for (let first = 0; first < values.length; first += INSERT_BATCH) {
      await pace()
      ids.push(...(await this.executor.insert(insertion, values.slice(first, first + INSERT_BATCH), first)))
    }
    return ids
  }

  #rowOf(id: number, values: unknown[]): Row {
    return rowOf(this.text.insertion, values, 'id' in this.columns ? { id } : {})
  }
}

function rowOf<Row>({ columns }: Insertion, values: unknown[], row: Record<string, unknown> = {}): Row {
  for (const [index, { name }] of columns.entries()) row[name] = values[index]
  return row as Row
}

/** The writes, of which every change has a time, whoever makes it: a rule, too. */
function timed<Row>(rows: readonly RowWrite<Row>[]): readonly RowWrite<Row>[] {
  const isTimed = (row: RowWrite<Row>) => !('change' in row) || 'updated_at' in row.change
  if (rows.every(isTimed)) return rows
  return rows.map((row) =>
    'change' in row && !isTimed(row) ? { ...row, change: { ...row.change, updated_at: new Date() } } : row,
  )
}
