import { ForeignKeyFault, ReferenceViolation } from './errors.ts'
import { type Declarations, mapDeclarations, type Reference } from './tables.ts'

/** What is read of other tables to find out why a foreign key refused a statement. */
export type Siblings = Record<PropertyKey, Reads>

interface Reads {
  find(where: object, columns?: readonly never[]): Promise<object | undefined>
  page(query: object): Promise<object[]>
}

/** A column that refers to a table. */
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

// PostgreSQL takes 63 bytes.
const LONGEST_CONSTRAINT_START = 63 - '_fkey'.length

/** The foreign keys of each table, and of others to it. */
export function referencesOf<All>(declarations: Declarations<All>): Record<keyof All, References> {
  const all: Referring[] = []
  mapDeclarations(declarations, ({ name: sqlTable, references }, table) => {
    for (const [column, reference] of Object.entries<Reference<PropertyKey> | undefined>(references)) {
      if (reference !== undefined)
        all.push({ table, sqlTable, column, to: reference.table, onDelete: reference.onDelete })
    }
  })
  return mapDeclarations(declarations, (_, name) => new References(name, all))
}

export class References {
  /** The columns whose rows are deleted with a row of this table. */
  readonly cascades: Referring[]
  readonly #name: PropertyKey
  readonly #own: Referring[]
  readonly #all: Referring[]

  constructor(name: PropertyKey, all: Referring[]) {
    this.cascades = all.filter(({ to, onDelete }) => to === name && onDelete === 'Cascade')
    this.#name = name
    this.#own = all.filter(({ table }) => table === name)
    this.#all = all
  }

  /**
   * For engines that do not say which of several rows cannot be stored, or store those before it.
   *
   * @throws ReferenceViolation
   */
  async check(rows: object[], siblings: Siblings): Promise<void> {
    if (this.#own.length === 0) return
    const { columns, index } = await this.#missing(rows, siblings)
    if (index !== undefined) throw new ReferenceViolation(columns, { index })
  }

  /** What an error of an insert is to a caller. */
  async ofInsert(error: unknown, rows: object[], siblings: Siblings): Promise<unknown> {
    if (!(error instanceof ForeignKeyFault)) return error
    const { columns, index } =
      error.constraint === undefined ? await this.#missing(rows, siblings) : this.#named(error, rows)
    return new ReferenceViolation(columns, { index, cause: error })
  }

  /** What an error of an update is to a caller. */
  async ofUpdate(error: unknown, changes: object, siblings: Siblings): Promise<unknown> {
    const refused = await this.ofInsert(error, [changes], siblings)
    return refused instanceof ReferenceViolation ? new ReferenceViolation(refused.columns, { cause: error }) : refused
  }

  /**
   * What an error of a delete is to a caller.
   *
   * @param ids those of the rows that it was to remove, which are still there
   */
  async ofDelete(error: unknown, ids: () => Promise<number[]>, siblings: Siblings): Promise<unknown> {
    if (!(error instanceof ForeignKeyFault)) return error
    const found =
      error.constraint === undefined
        ? await this.#restricting(this.#name, await ids(), siblings, new Set())
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

  /** The first row that refers to something that is not there. */
  async #missing(rows: object[], siblings: Siblings): Promise<Missing> {
    const missing = await Promise.all(
      this.#own.map(async ({ column, to }) => {
        const ids = new Set(rows.map((row) => inColumn(row, column) as number).filter((id) => id != null))
        for (const id of await idsOf(siblings[to] as Reads, 'id', [...ids])) ids.delete(id)
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

  /** A column that keeps rows from being deleted, or rows that would go with them. */
  async #restricting(
    table: PropertyKey,
    ids: number[],
    siblings: Siblings,
    seen: Set<string>,
  ): Promise<Referring | undefined> {
    const left = ids.filter((id) => !seen.has(`${String(table)} ${id}`))
    for (const id of left) seen.add(`${String(table)} ${id}`)
    if (left.length === 0) return undefined
    const referring = this.#all.filter(({ to }) => to === table)
    for (const each of referring.filter(({ onDelete }) => onDelete === 'Restrict')) {
      const row = await siblings[each.table]?.find({ [each.column]: { in: left } }, [each.column as never])
      if (row !== undefined) return each
    }
    for (const each of referring.filter(({ onDelete }) => onDelete === 'Cascade')) {
      if (!this.#all.some(({ to }) => to === each.table)) continue
      const going = await idsOf(siblings[each.table] as Reads, each.column, left)
      const found = await this.#restricting(each.table, going, siblings, seen)
      if (found !== undefined) return found
    }
    return undefined
  }
}

/** As Prisma names it. */
function isNamed(constraint: string | undefined, { sqlTable, column }: Referring): boolean {
  return constraint === `${`${sqlTable}_${column}`.slice(0, LONGEST_CONSTRAINT_START)}_fkey`
}

/** The ids of the rows that have one of some values in a column. */
async function idsOf(table: Reads, column: string, values: number[]): Promise<number[]> {
  const order = { column: 'id', descending: false }
  const query = { columns: ['id'], where: { [column]: { in: values } }, order, take: Number.MAX_SAFE_INTEGER }
  return ((await table.page(query)) as { id: number }[]).map(({ id }) => id)
}

function inColumn(row: object, column: string): unknown {
  return (row as Record<string, unknown>)[column]
}
