import { ForeignKeyFault, ReferenceViolation } from '../errors.ts'
import { type Declarations, mapDeclarations, type Reference } from './declarations.ts'

/** The other tables, which are read to explain a foreign key error. */
export type RelatedTables = Record<PropertyKey, ReadTable>

interface ReadTable {
  find(where: object, columns?: readonly never[]): Promise<object | undefined>
  page(query: object): Promise<object[]>
}

/** A column that references a table. */
interface Referring extends Pick<Reference<PropertyKey>, 'onDelete'> {
  table: PropertyKey
  sqlTable: string
  column: string
  to: PropertyKey
}

interface Missing {
  columns: string[]
  index: number | undefined
}

// PostgreSQL identifiers have at most 63 bytes.
const MAX_CONSTRAINT_START = 63 - '_fkey'.length

/** The columns that reference a table. */
export function referringColumns<All>(declarations: Declarations<All>): Referring[] {
  const all: Referring[] = []
  mapDeclarations(declarations, ({ name: sqlTable, references }, table) => {
    for (const [column, reference] of Object.entries<Reference<PropertyKey> | undefined>(references)) {
      if (reference !== undefined)
        all.push({ table, sqlTable, column, to: reference.table, onDelete: reference.onDelete })
    }
  })
  return all
}

/** The foreign keys from and to each table. */
export function referencesOf<All>(declarations: Declarations<All>): Record<keyof All, References> {
  const all = referringColumns(declarations)
  const order = lockOrder(Object.keys(declarations), all)
  const names = mapDeclarations(declarations, ({ name }) => name) as Record<PropertyKey, string>
  return mapDeclarations(declarations, (_, name) => new References(name, all, order, names))
}

/** All tables, each after those that it references. */
function lockOrder(tables: PropertyKey[], all: Referring[]): PropertyKey[] {
  const ordered = new Set<PropertyKey>()
  const visited = new Set<PropertyKey>()
  const add = (table: PropertyKey) => {
    if (visited.has(table)) return
    visited.add(table)
    for (const each of all) if (each.table === table) add(each.to)
    ordered.add(table)
  }
  for (const table of tables) add(table)
  return [...ordered]
}

export class References {
  /** The columns whose rows are deleted with a row of this table. */
  readonly cascades: Referring[]
  /** The tables that deletes of this table cascade to, in the order in which writes lock their rows. */
  readonly cascadeOrder: { table: PropertyKey; cascades: Referring[] }[] = []
  /** The columns with references, and the SQL names of the tables, in the order in which writes lock their rows. */
  readonly referencedTables: [column: string, sqlTable: string][]
  readonly #name: PropertyKey
  readonly #own: Referring[]
  readonly #all: Referring[]

  constructor(name: PropertyKey, all: Referring[], order: PropertyKey[], names: Record<PropertyKey, string>) {
    this.cascades = all.filter(({ to, onDelete }) => to === name && onDelete === 'Cascade')
    this.#name = name
    this.#own = order.flatMap((to) => all.filter((each) => each.table === name && each.to === to))
    this.#all = all
    this.referencedTables = this.#own.map(({ column, to }) => [column, String(names[to])])
    const reached = new Set([name])
    for (const table of order) {
      const into = all.filter((each) => each.table === table && each.onDelete === 'Cascade' && each.to !== table)
      const own = all.filter((each) => each.table === table && each.onDelete === 'Cascade' && each.to === table)
      const cascades = [...into.filter(({ to }) => reached.has(to)), ...own]
      if (cascades.length === 0 || (table !== name && cascades.length === own.length)) continue
      reached.add(table)
      this.cascadeOrder.push({ table, cascades })
    }
  }

  /** The records that rows refer to, in the order in which writes lock them. */
  referenced(rows: object[]): { table: PropertyKey; ids: number[] }[] {
    const found = new Map<PropertyKey, Set<number>>()
    for (const { column, to } of this.#own) {
      for (const row of rows) {
        const id = inColumn(row, column)
        if (typeof id === 'number') found.set(to, (found.get(to) ?? new Set()).add(id))
      }
    }
    return [...found].map(([table, ids]) => ({ table, ids: [...ids] }))
  }

  /**
   * Checks the rows before an insert. For engines that do not report the violating row, or that store the rows before it.
   *
   * @throws ReferenceViolation
   */
  async check(rows: object[], relatedTables: RelatedTables): Promise<void> {
    if (this.#own.length === 0) return
    const { columns, index } = await this.#missing(rows, relatedTables)
    if (index !== undefined) throw new ReferenceViolation(columns, { index })
  }

  /** Converts an error of an insert. */
  async ofInsert(error: unknown, rows: object[], relatedTables: RelatedTables): Promise<unknown> {
    if (!(error instanceof ForeignKeyFault)) return error
    const { columns, index } =
      error.constraint === undefined ? await this.#missing(rows, relatedTables) : this.#named(error, rows)
    return new ReferenceViolation(columns, { index, cause: error })
  }

  /** Converts an error of an update. */
  async ofUpdate(error: unknown, changes: object, relatedTables: RelatedTables): Promise<unknown> {
    const refused = await this.ofInsert(error, [changes], relatedTables)
    return refused instanceof ReferenceViolation ? new ReferenceViolation(refused.columns, { cause: error }) : refused
  }

  /**
   * Converts an error of a delete.
   *
   * @param ids returns the ids of the rows to delete, which still exist
   */
  async ofDelete(error: unknown, ids: () => Promise<number[]>, relatedTables: RelatedTables): Promise<unknown> {
    if (!(error instanceof ForeignKeyFault)) return error
    const found =
      error.constraint === undefined
        ? await this.#restricting(this.#name, await ids(), relatedTables, new Set())
        : this.#all.find((referring) => isNamed(error.constraint, referring))
    const referring = found && { table: String(found.table), column: found.column }
    return new ReferenceViolation([], { referring, cause: error })
  }

  #named({ constraint, detail }: ForeignKeyFault, rows: object[]): Missing {
    const found = this.#own.find((referring) => isNamed(constraint, referring))
    if (found === undefined) return { columns: [], index: rows.length === 1 ? 0 : undefined }
    const { column } = found
    // The rest of "Key (author_id)=(9) is not present" depends on the server's language.
    const index = rows.findIndex((row) => detail.includes(`(${column})=(${inColumn(row, column)})`))
    return { columns: [column], index: rows.length === 1 ? 0 : index < 0 ? undefined : index }
  }

  /** The first row that references a record that does not exist. */
  async #missing(rows: object[], relatedTables: RelatedTables): Promise<Missing> {
    const missing = await Promise.all(
      this.#own.map(async ({ column, to }) => {
        const ids = new Set(rows.map((row) => inColumn(row, column) as number).filter((id) => id != null))
        for (const id of await idsOf(relatedTables[to] as ReadTable, 'id', [...ids])) ids.delete(id)
        return { column, ids }
      }),
    )
    for (const [index, row] of rows.entries()) {
      const columns = missing
        .filter(({ column, ids }) => ids.has(inColumn(row, column) as number))
        .map(({ column }) => column)
      if (columns.length > 0) return { columns, index }
    }
    return { columns: [], index: undefined }
  }

  /** A column that restricts the delete of some rows, or of rows that cascade from them. */
  async #restricting(
    table: PropertyKey,
    ids: number[],
    relatedTables: RelatedTables,
    seen: Set<string>,
  ): Promise<Referring | undefined> {
    const remaining = ids.filter((id) => !seen.has(`${String(table)} ${id}`))
    for (const id of remaining) seen.add(`${String(table)} ${id}`)
    if (remaining.length === 0) return undefined
    const referring = this.#all.filter(({ to }) => to === table)
    for (const each of referring.filter(({ onDelete }) => onDelete === 'Restrict')) {
      const row = await relatedTables[each.table]?.find({ [each.column]: { in: remaining } }, [each.column as never])
      if (row !== undefined) return each
    }
    for (const each of referring.filter(({ onDelete }) => onDelete === 'Cascade')) {
      if (!this.#all.some(({ to }) => to === each.table)) continue
      const cascading = await idsOf(relatedTables[each.table] as ReadTable, each.column, remaining)
      const found = await this.#restricting(each.table, cascading, relatedTables, seen)
      if (found !== undefined) return found
    }
    return undefined
  }
}

/** Whether a constraint has the name that Prisma gives it. */
function isNamed(constraint: string | undefined, { sqlTable, column }: Referring): boolean {
  return constraint === `${`${sqlTable}_${column}`.slice(0, MAX_CONSTRAINT_START)}_fkey`
}

/** The ids of the rows with one of the values in a column. */
export async function idsOf(table: ReadTable, column: string, values: number[]): Promise<number[]> {
  const order = { column: 'id', descending: false }
  const query = { columns: ['id'], where: { [column]: { in: values } }, order, take: Number.MAX_SAFE_INTEGER }
  return ((await table.page(query)) as { id: number }[]).map(({ id }) => id)
}

function inColumn(row: object, column: string): unknown {
  return (row as Record<string, unknown>)[column]
}
