import type { AuditEntry } from '../../generated/client.ts'
import { type Audit, type AuditedChange, type AuditedStatement, auditEntries, withAuditInsert } from './audit.ts'
import { type Session, type TableInfo, TableLocks } from './locks.ts'
import type { Statement } from './sql.ts'
import type { Change, Entity, Kind, NewRow } from './types.ts'

/** How the changes of a table are recorded, and written to the audit log. */
export abstract class AuditedWrites<Row extends Entity> extends TableLocks<Row> {
  /** Undefined if the table is not audited. */
  protected readonly audit: Audit | undefined

  constructor(info: TableInfo<Row>, session: Session) {
    super(info, session)
    const { audit } = session
    const audited = audit?.tables[info.name]
    this.audit = audit && audited && { shared: audit.shared, ...audited }
  }

  protected abstract insertMany(rows: NewRow<Row>[]): Promise<Row[]>

  /** Whether changes are needed here: to be recorded, or for audit entries, which on PostgreSQL the statement inserts. */
  protected get needsChanges(): boolean {
    return this.audit !== undefined && !(this.executor.isRemote && this.session.changes === undefined)
  }

  /** Records the changes of a running write if they are to be recorded, and inserts their audit entries unless its statement does. */
  protected audited<T>(running: Promise<T>, changesOf: (result: T) => AuditedChange[]): Promise<T> {
    return this.needsChanges ? this.#auditResult(running, changesOf) : running
  }

  async #auditResult<T>(running: Promise<T>, changesOf: (result: T) => AuditedChange[]): Promise<T> {
    const result = await running
    const changes = changesOf(result)
    this.record(changes)
    if (this.audit !== undefined && changes.length > 0 && !this.executor.isRemote && !this.session.isDryRun)
      await this.insertAudit(this.audit, changes)
    return result
  }

  protected record(changes: AuditedChange[]): void {
    const { changes: recorded } = this.session
    if (recorded === undefined || this.audit === undefined) return
    for (const change of changes) recorded.push({ ...change, table: this.name })
  }

  protected insertAudit(audit: Audit, changes: AuditedChange[]): Promise<unknown> {
    const entries = this.session.tables.auditEntries as AuditedWrites<AuditEntry & Entity>
    return entries.wrapped('insertMany', () => entries.insertMany(auditEntries(audit, changes)))
  }

  /** Extends a PostgreSQL statement that returns the rows it writes: it also inserts their audit entries. */
  protected withAudit(statement: Statement, rows: AuditedStatement): Statement {
    if (this.audit === undefined || !this.executor.isRemote || this.session.isDryRun) return statement
    return withAuditInsert(statement, this.columns as Record<string, Kind>, this.audit, rows)
  }
}

export function ofInserted(rows: Entity[]): AuditedChange[] {
  return rows.map((after) => ({ after, written: after }))
}

export function ofRestored(rows: Entity[]): AuditedChange[] {
  return rows.map((after) => ({ after, written: after, isRestored: true }))
}

export function ofUpdated(change: Change<Entity> | undefined, written: object): AuditedChange[] {
  return change === undefined || change.after.version === change.before.version ? [] : [{ ...change, written }]
}

/** In the order of their ids: an engine deletes rows in any order. */
export function ofDeleted(rows: Entity[]): AuditedChange[] {
  return rows.toSorted((a, b) => a.id - b.id).map((before) => ({ before }))
}
