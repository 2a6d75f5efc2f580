import { setImmediate } from 'node:timers/promises'
import { Conflict, UniqueViolation } from './errors.ts'
import { fromPrisma } from './prisma-error.ts'
import { readRanges } from './ranges.ts'
import { type References, referencesOf, type Siblings } from './references.ts'
import {
  type Change,
  type Changes,
  type Columns,
  type Entity,
  isUnchanged,
  type Kind,
  type NewRow,
  type PageQuery,
  type Range,
  type RecordTable,
  type Where,
} from './table.ts'
import { type Declaration, type Declarations, declarations, mapDeclarations } from './tables.ts'

/**
 * Every table, through a Prisma client or one of its transactions.
 *
 * @param removedAtOnce how many rows one statement may remove, lest it hold up all others; any number when absent
 */
export const prismaTables = prismaTablesOf(declarations)

/** Gives the tables of some declarations, through a client that has their models. */
export function prismaTablesOf<All>(declarations: Declarations<All>): (client: object, removedAtOnce?: number) => All {
  const references = referencesOf(declarations)
  return (client, removedAtOnce) => {
    const delegates = client as Record<string, Delegate>
    const siblings = () => tables as unknown as Siblings
    const tables = mapDeclarations(declarations, (declaration, name) => {
      const delegate = delegates[declaration.model] as Delegate
      return new PrismaTable(declaration, delegate, references[name], siblings, removedAtOnce)
    })
    return tables as All
  }
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
  readonly #bools: string[]
  readonly #unique: readonly (keyof Row)[]
  readonly #delegate: Delegate
  readonly #references: References
  readonly #siblings: () => Siblings
  readonly #removedAtOnce: number | undefined

  constructor(
    { columns, unique }: Declaration<Row>,
    delegate: Delegate,
    references: References,
    siblings: () => Siblings,
    removedAtOnce: number | undefined,
  ) {
    this.columns = columns
    this.#bools = Object.entries<Kind>(columns).flatMap(([name, kind]) => (kind.startsWith('bool') ? [name] : []))
    this.#unique = unique
    this.#delegate = delegate
    this.#references = references
    this.#siblings = siblings
    this.#removedAtOnce = removedAtOnce
  }

  async find<Column extends keyof Row = keyof Row>(
    where: Where<Row>,
    columns?: readonly Column[],
  ): Promise<Pick<Row, Column> | undefined> {
    const select = columns && named(columns)
    const row = await this.#delegate.findFirst({ where: this.#where(where), ...(select && { select }) }).catch(refuse)
    return row === null ? undefined : numbered(row as Pick<Row, Column>)
  }

  async page<Column extends keyof Row = keyof Row>({
    columns,
    where,
    beyond = [{}],
    order,
    skip = 0,
    take,
  }: PageQuery<Row, Column>): Promise<Pick<Row, Column>[]> {
    const { column, descending } = order
    const sort = descending ? 'desc' : 'asc'
    const isNullable = this.columns[column].endsWith('?')
    const first = { [column]: isNullable ? { sort, nulls: descending ? 'last' : 'first' } : sort }
    const orderBy = column === 'id' ? [first] : [first, { id: 'asc' }]
    const select = columns && named(columns)
    const rows = await readRanges(beyond, take, (range, take) =>
      this.#delegate
        .findMany({
          where: { AND: [this.#where(where), this.#where(range)] },
          orderBy,
          skip,
          take,
          ...(select && { select }),
        })
        .catch(refuse),
    )
    return (rows as Pick<Row, Column>[]).map(numbered)
  }

  count(where: Where<Row>): Promise<number> {
    return this.#delegate.count({ where: this.#where(where) }).catch(refuse)
  }

  async insert(row: NewRow<Row>): Promise<Row> {
    return numbered((await this.#inserting([row], () => this.#delegate.create({ data: row }))) as Row)
  }

  async insertMany(rows: NewRow<Row>[]): Promise<Row[]> {
    await this.#refuseTaken(rows)
    await this.#references.check(rows, this.#siblings())
    const stored = (await this.#inserting(rows, () => this.#delegate.createManyAndReturn({ data: rows }))) as Row[]
    return stored.map(numbered).sort((a, b) => a.id - b.id)
  }

  async update(id: number, versions: number[] | undefined, changes: Changes<Row>): Promise<Change<Row> | undefined> {
    const time = (changes as { updated_at?: Date }).updated_at
    for (;;) {
      const before = await this.find(ofVersion(id, versions) as Where<Row>)
      if (before === undefined) return undefined
      const stored = before.updated_at
      // What changes nothing is still a write, which finds out whether another one came in between.
      const data = isUnchanged(before, changes)
        ? { version: before.version }
        : { ...changes, version: { increment: 1 } }
      // Where the clock was set back, updated_at stays where it is.
      if (time && stored && stored > time) Object.assign(data, { updated_at: stored })
      const where = ofVersion(id, [before.version])
      const [after] = (await this.#updating(changes, () =>
        this.#delegate.updateManyAndReturn({ where, data }),
      )) as Row[]
      // Else another write came in between.
      if (after !== undefined) return { before, after }
    }
  }

  async delete(id: number, versions: number[] | undefined): Promise<Row | undefined> {
    for (;;) {
      const before = await this.find(ofVersion(id, versions) as Where<Row>)
      if (before === undefined) return undefined
      const where = ofVersion(id, [before.version])
      const { count } = await this.#removing(
        () => this.#delegate.deleteMany({ where }),
        async () => [id],
      )
      if (count > 0) return before
    }
  }

  async deleteAll(where: Where<Row>): Promise<number> {
    const limit = this.#removedAtOnce
    for (let total = 0; ; await setImmediate()) {
      const { count } = await this.#removing(
        () => this.#delegate.deleteMany({ where: this.#where(where), ...(limit && { limit }) }),
        () => this.#ids(where),
      )
      total += count
      if (limit === undefined || count < limit) return total
    }
  }

  async deleteSome(where: Where<Row>, most: number): Promise<Row[]> {
    const rows = (await this.#delegate.findMany({ where: this.#where(where), take: most }).catch(refuse)) as Row[]
    const versions = Map.groupBy(rows, ({ version }) => version)
    const OR = [...versions].map(([version, rows]) => ({ version, id: { in: rows.map(({ id }) => id) } }))
    const { count } = await this.#removing(
      () => this.#delegate.deleteMany({ where: { OR } }),
      async () => rows.map(({ id }) => id),
    )
    if (count < rows.length) throw new Conflict('Another write came in between.')
    return rows.map(numbered)
  }

  #inserting<T>(rows: NewRow<Row>[], insert: () => Promise<T>): Promise<T> {
    return insert().catch(async (error: unknown) => {
      throw await this.#references.ofInsert(fromPrisma(error), rows, this.#siblings())
    })
  }

  #updating<T>(changes: Changes<Row>, update: () => Promise<T>): Promise<T> {
    return update().catch(async (error: unknown) => {
      throw await this.#references.ofUpdate(fromPrisma(error), changes, this.#siblings())
    })
  }

  /** @param ids gives those of the rows that are to be removed, for an error to be explained by */
  #removing<T>(remove: () => Promise<T>, ids: () => Promise<number[]>): Promise<T> {
    return remove().catch(async (error: unknown) => {
      throw await this.#references.ofDelete(fromPrisma(error), ids, this.#siblings())
    })
  }

  async #ids(where: Where<Row>): Promise<number[]> {
    const rows = (await this.#delegate
      .findMany({ where: this.#where(where), select: { id: true } })
      .catch(refuse)) as Row[]
    return rows.map(({ id }) => id)
  }

  // Prisma compares no booleans: a range or a list is the values that it has.
  #where(where: Where<Row>): object {
    if (this.#bools.length === 0) return where
    const ranges = this.#bools.flatMap((column) => {
      const range = where[column as keyof Row] as Range<boolean> | boolean | null | undefined
      return typeof range !== 'object' || range === null || 'not' in range ? [] : [{ column, range }]
    })
    const AND = ranges.flatMap(({ column, range }) => (hasBounds(range) ? [within(column, range)] : []))
    const others = Object.entries(where).filter(([name]) => !ranges.some(({ column }) => column === name))
    return { ...Object.fromEntries(others), AND }
  }

  /** Prisma does not tell which of many rows could not be stored. */
  async #refuseTaken(rows: NewRow<Row>[]): Promise<void> {
    const taken = new Map<keyof Row, Set<unknown>>()
    for (const column of this.#unique) {
      const values = rows.map((row) => givenValue(row, column)).filter((value) => value !== null)
      const known = (await this.#delegate
        .findMany({ where: { [column]: { in: values } }, select: { [column]: true } })
        .catch(refuse)) as Row[]
      taken.set(column, new Set(known.map((row) => comparable(row[column]))))
    }
    for (const [index, row] of rows.entries()) {
      for (const [column, values] of taken) {
        const value = comparable(givenValue(row, column))
        if (values.has(value)) throw new UniqueViolation([String(column)], { index })
        if (value !== null) values.add(value)
      }
    }
  }
}

function givenValue<Row>(row: NewRow<Row>, column: keyof Row): unknown {
  return (row as Partial<Row>)[column] ?? null
}

function comparable(value: unknown): unknown {
  return value instanceof Date ? value.getTime() : value
}

function hasBounds(range: Range<boolean>): boolean {
  return Object.values(range).some((bound) => bound !== undefined)
}

function within(column: string, range: Range<boolean>): object {
  const isTrue = { [column]: true }
  const isFalse = { [column]: false }
  if (!isWithin(range, true)) return isWithin(range, false) ? isFalse : { AND: [isTrue, isFalse] }
  return isWithin(range, false) ? { OR: [isTrue, isFalse] } : isTrue
}

function isWithin({ lt, lte, gt, gte, in: list }: Range<boolean>, value: boolean): boolean {
  return (
    (lt === undefined || value < lt) &&
    (lte === undefined || value <= lte) &&
    (gt === undefined || value > gt) &&
    (gte === undefined || value >= gte) &&
    (list === undefined || list.includes(value))
  )
}

// Prisma gives a number of 64 bits as a BigInt.
function numbered<Row extends { id?: unknown }>(row: Row): Row {
  return typeof row.id === 'bigint' ? { ...row, id: Number(row.id) } : row
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
