import type { AuditContext, RecordedChange } from './audit.ts'
import type { Around, Executor } from './executor.ts'
import type { LockMode } from './read-statements.ts'
import { TableReads } from './reads.ts'
import type { References } from './references.ts'
import type { ChangeOf } from './row-writes.ts'
import { isSet, numeric } from './sql.ts'
import type { SqlText } from './statements.ts'
import { MAX_SCANNED } from './stored-rows.ts'
import type { Changes, Columns, Entity, RowWrite, Where } from './types.ts'

export interface TableOptions {
  /** Wraps each query of a table. */
  around?: Around | undefined
  /** Audits the changes; no audit entries when absent. */
  audit?: AuditContext | undefined
  /** Receives each change of an audited table. */
  changes?: RecordedChange[] | undefined
  /** Whether the transaction is undone in any case. */
  isDryRun?: boolean | undefined
  /** Whether `lock` locks rows, on PostgreSQL; only inside a write. */
  locks?: boolean | undefined
}

/** The metadata of a table. */
export interface TableInfo<Row> {
  name: PropertyKey
  columns: Columns<Row>
  text: SqlText<Row>
  references: References
}

/** State shared by the tables of a transaction, or of all reads. */
export interface Session extends TableOptions {
  executor: Executor
  // biome-ignore lint/suspicious/noExplicitAny: each table has its own row type
  tables: Record<PropertyKey, TableLocks<any>>
}

/** The reads and the row locks of a table. */
export abstract class TableLocks<Row extends Entity> extends TableReads<Row> {
  protected readonly references: References
  protected readonly name: PropertyKey
  protected readonly session: Session

  constructor({ name, columns, text, references }: TableInfo<Row>, session: Session) {
    super(columns, text, session.executor)
    this.name = name
    this.references = references
    this.session = session
  }

  lock(where: Where<Row>, limit: number, use?: 'delete'): Promise<Pick<Row, 'id' | 'version'>[]> {
    const mode = use === 'delete' ? 'UPDATE' : 'NO KEY UPDATE'
    const statement = this.text.idsAndVersions(where, limit, this.session.locks ? mode : undefined)
    return this.wrapped('lock', async () => this.rows(statement, await this.forAllRows(MAX_SCANNED)))
  }

  /** Whether a change takes a unique value of another row, or of another change: then the order of the changes decides. */
  protected async collide(rows: ChangeOf<Row>[]): Promise<boolean> {
    for (const column of this.text.insertion.unique.flat() as (keyof Row)[]) {
      const values = rows.flatMap(({ id, change }) => {
        const value = change[column as keyof typeof change]
        return value == null ? [] : [[numeric(value), id] as const]
      })
      const owners = new Map(values)
      if (owners.size < values.length) return true
      const query = { columns: ['id', column] as const, order: { column: 'id', descending: false } as const }
      const where = { [column]: { in: [...owners.keys()] } } as Where<Row>
      const found = values.length > 0 ? await this.page({ ...query, where, take: values.length }) : []
      if (found.some((row) => owners.get(numeric(row[column])) !== row.id)) return true
    }
    return false
  }

  async lockFor(rows: readonly (RowWrite<Row> | { change: Changes<Row> })[]): Promise<void> {
    if (!this.executor.isRemote) return
    const unique = this.text.insertion.unique.flat()
    const written = rows.flatMap((row): object[] =>
      'create' in row ? [row.create] : 'restore' in row ? [row.restore] : 'change' in row ? [row.change] : [],
    )
    const isUnique = rows.some((row) =>
      'change' in row ? unique.some((column) => isSet(row.change, column)) : !('delete' in row),
    )
    if (isUnique && unique.length > 0) await this.executor.run(this.text.lockUniqueValues('exclusive'))
    await this.lockReferenced(written)
    const ids = rows.flatMap((row) => ('id' in row ? [row.id] : []))
    const deleted = rows.flatMap((row) => ('delete' in row ? [row.id] : []))
    const isKept = deleted.length === 0 && !isUnique
    if (ids.length > 1) await this.#lockRows([['id', ids]], isKept ? 'NO KEY UPDATE' : 'UPDATE')
    if (deleted.length > 0) await this.#lockCascades(deleted)
  }

  /** Locks the rows that a delete cascades to, table by table. */
  async #lockCascades(ids: number[]): Promise<void> {
    const locked = new Map<PropertyKey, Set<number>>([[this.name, new Set(ids)]])
    for (const { table, cascades } of this.references.cascadeOrder) {
      const referring = this.session.tables[table] as TableLocks<Entity>
      const rows = locked.get(table) ?? new Set()
      locked.set(table, rows)
      // Repeated for a table that cascades to itself.
      for (let size = -1; size < rows.size; ) {
        size = rows.size
        const lists = cascades.map(({ column, to }): [string, number[]] => [column, [...(locked.get(to) ?? [])]])
        for (const { id } of await referring.#lockRows(lists, 'UPDATE')) rows.add(id)
        if (!cascades.some(({ to }) => to === table)) break
      }
    }
  }

  #lockRows(lists: [column: string, values: number[]][], mode: LockMode): Promise<Row[]> {
    return this.wrapped('lock', async () => this.rows(this.text.lock(lists, mode)))
  }

  /** Locks the records that rows refer to, before the rows: a delete locks in this order too. */
  protected async lockReferenced(rows: object[]): Promise<void> {
    for (const { table, ids } of this.references.referenced(rows)) {
      await (this.session.tables[table] as TableLocks<Entity>).#lockRows([['id', ids]], 'KEY SHARE')
    }
  }
}
