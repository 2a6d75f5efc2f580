import type { Changes, Database, Entity, NewRow, PageQuery, RecordTable, Tables, Where } from '@resource/database'

/**
 * Runs a piece of the database's work, with something around it.
 *
 * @param operation `find`, `insertMany`, `transaction`
 * @param table `users`; empty of a transaction, which may be of several
 */
export type Around = <T>(operation: string, table: string, run: () => Promise<T>) => Promise<T>

/** The database, with `around` around each query and each transaction, the wait for its turn included. */
export function observeDatabase(database: Database, around: Around): Database {
  const names = Object.keys(database.read).map((key) => ({ key: key as keyof Tables, name: snakeCase(key) }))
  const observe = (tables: Tables) => {
    const observed: Record<string, unknown> = {}
    for (const { key, name } of names) observed[key] = new ObservedTable(tables[key] as never, name, around)
    return observed as unknown as Tables
  }
  const known = new WeakMap<Tables, Tables>()
  const observeOnce = (tables: Tables) => {
    let observed = known.get(tables)
    if (observed === undefined) {
      observed = observe(tables)
      known.set(tables, observed)
    }
    return observed
  }
  return {
    ...database,
    read: observeOnce(database.read),
    recent: () => observeOnce(database.recent()),
    write: (work, options) => around('transaction', '', () => database.write((tx) => work(observe(tx)), options)),
  }
}

class ObservedTable<Row extends Entity> implements RecordTable<Row> {
  readonly columns: RecordTable<Row>['columns']
  readonly #table: RecordTable<Row>
  readonly #name: string
  readonly #around: Around

  constructor(table: RecordTable<Row>, name: string, around: Around) {
    this.columns = table.columns
    this.#table = table
    this.#name = name
    this.#around = around
  }

  get entering(): RecordTable<Row>['entering'] {
    const { entering: enter } = this.#table
    return enter && ((entering) => new ObservedTable(enter(entering), this.#name, this.#around))
  }

  find<Column extends keyof Row = keyof Row>(where: Where<Row>, columns?: readonly Column[]) {
    return this.#around('find', this.#name, () => this.#table.find(where, columns))
  }

  count(where: Where<Row>) {
    return this.#around('count', this.#name, () => this.#table.count(where))
  }

  page<Column extends keyof Row = keyof Row>(query: PageQuery<Row, Column>) {
    return this.#around('page', this.#name, () => this.#table.page(query))
  }

  insert(row: NewRow<Row>) {
    return this.#around('insert', this.#name, () => this.#table.insert(row))
  }

  insertMany(rows: NewRow<Row>[]) {
    return this.#around('insertMany', this.#name, () => this.#table.insertMany(rows))
  }

  update(id: number, versions: number[] | undefined, changes: Changes<Row>) {
    return this.#around('update', this.#name, () => this.#table.update(id, versions, changes))
  }

  delete(id: number, versions: number[] | undefined) {
    return this.#around('delete', this.#name, () => this.#table.delete(id, versions))
  }

  deleteSome(where: Where<Row>, most: number) {
    return this.#around('deleteSome', this.#name, () => this.#table.deleteSome(where, most))
  }

  deleteAll(where: Where<Row>) {
    return this.#around('deleteAll', this.#name, () => this.#table.deleteAll(where))
  }
}

/** `idempotencyKeys` as the database calls it: `idempotency_keys`. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
