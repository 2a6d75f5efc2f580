import { setImmediate } from 'node:timers/promises'
import type { Prisma, PrismaClient } from '../generated/client.ts'
import { UniqueViolation } from './errors.ts'
import { fromPrisma } from './prisma-error.ts'
import type { Changes, Columns, Entity, NewRow, PageQuery, RecordTable, Where } from './table.ts'
import { type Declaration, mapTables, type Tables } from './tables.ts'

/**
 * Every table, through a Prisma client or one of its transactions.
 *
 * @param removedAtOnce how many rows one statement may remove, lest it hold up all others; any number when absent
 */
export function prismaTables(client: PrismaClient | Prisma.TransactionClient, removedAtOnce?: number): Tables {
  return mapTables((declaration) => {
    const delegate = client[declaration.model] as unknown as Delegate
    return new PrismaTable(declaration, delegate, removedAtOnce)
  }) as unknown as Tables
}

/** The part of a model's delegate that is used, whatever the model. */
interface Delegate {
  findFirst(query: { where: object }): Promise<unknown>
  findMany(query: {
    where: object
    orderBy?: object[]
    skip?: number
    take?: number
    select?: object
  }): Promise<unknown[]>
  count(query: { where: object }): Promise<number>
  create(query: { data: object }): Promise<unknown>
  createManyAndReturn(query: { data: object[] }): Promise<unknown[]>
  updateManyAndReturn(query: { where: object; data: object }): Promise<unknown[]>
  deleteMany(query: { where: object; limit?: number }): Promise<{ count: number }>
}

class PrismaTable<Row extends Entity & { updated_at?: Date }> implements RecordTable<Row> {
  readonly columns: Columns<Row>
  readonly #unique: keyof Row | undefined
  readonly #delegate: Delegate
  readonly #removedAtOnce: number | undefined

  constructor({ columns, unique }: Declaration<Row>, delegate: Delegate, removedAtOnce: number | undefined) {
    this.columns = columns
    this.#unique = unique
    this.#delegate = delegate
    this.#removedAtOnce = removedAtOnce
  }

  async find(where: Where<Row>): Promise<Row | undefined> {
    return ((await this.#delegate.findFirst({ where }).catch(refuse)) as Row | null) ?? undefined
  }

  async page<Column extends keyof Row = keyof Row>({
    columns,
    where,
    beyond = {},
    order,
    skip = 0,
    take,
  }: PageQuery<Row, Column>): Promise<Pick<Row, Column>[]> {
    const { column, descending } = order
    const sort = descending ? 'desc' : 'asc'
    const isNullable = this.columns[column].endsWith('?')
    const first = { [column]: isNullable ? { sort, nulls: descending ? 'last' : 'first' } : sort }
    const orderBy = column === 'id' ? [first] : [first, { id: 'asc' }]
    return (await this.#delegate
      .findMany({ where: { AND: [where, beyond] }, orderBy, skip, take, ...(columns && { select: named(columns) }) })
      .catch(refuse)) as Pick<Row, Column>[]
  }

  count(where: Where<Row>): Promise<number> {
    return this.#delegate.count({ where }).catch(refuse)
  }

  async insert(row: NewRow<Row>): Promise<Row> {
    return (await this.#delegate.create({ data: row }).catch(refuse)) as Row
  }

  async insertMany(rows: NewRow<Row>[]): Promise<Row[]> {
    await this.#refuseTaken(rows)
    const stored = (await this.#delegate.createManyAndReturn({ data: rows }).catch(refuse)) as Row[]
    return stored.sort((a, b) => a.id - b.id)
  }

  async update(id: number, versions: number[] | undefined, changes: Changes<Row>): Promise<Row | undefined> {
    let time = (changes as { updated_at?: Date }).updated_at
    for (;;) {
      const [written] = await this.#delegate
        .updateManyAndReturn({
          where: { ...ofVersion(id, versions), ...(time && { updated_at: { lte: time } }) },
          data: { ...changes, ...(time && { updated_at: time }), version: { increment: 1 } },
        })
        .catch(refuse)
      if (written !== undefined || time === undefined) return written as Row | undefined
      const stored = await this.find(ofVersion(id, versions) as Where<Row>)
      if (stored === undefined) return undefined
      // The clock was set back: updated_at stays where it is.
      time = stored.updated_at
    }
  }

  async delete(id: number, versions: number[] | undefined): Promise<boolean> {
    const { count } = await this.#delegate.deleteMany({ where: ofVersion(id, versions) }).catch(refuse)
    return count > 0
  }

  async deleteAll(where: Where<Row>): Promise<number> {
    const limit = this.#removedAtOnce
    for (let total = 0; ; await setImmediate()) {
      const { count } = await this.#delegate.deleteMany({ where, ...(limit && { limit }) }).catch(refuse)
      total += count
      if (limit === undefined || count < limit) return total
    }
  }

  /** Prisma does not tell which of many rows could not be stored. */
  async #refuseTaken(rows: NewRow<Row>[]): Promise<void> {
    const column = this.#unique
    if (column === undefined) return
    const values = rows.map((row) => (row as Record<keyof Row, unknown>)[column])
    const known = (await this.#delegate
      .findMany({ where: { [column]: { in: values } }, select: { [column]: true } })
      .catch(refuse)) as Row[]
    const taken = new Set<unknown>(known.map((row) => row[column]))
    for (const [index, value] of values.entries()) {
      if (taken.has(value)) throw new UniqueViolation([String(column)], { index })
      taken.add(value)
    }
  }
}

function ofVersion(id: number, versions: number[] | undefined) {
  return { id, ...(versions !== undefined && { version: { in: versions } }) }
}

function named(columns: readonly PropertyKey[]) {
  return Object.fromEntries(columns.map((column) => [column, true]))
}

function refuse(error: unknown): never {
  throw fromPrisma(error)
}
