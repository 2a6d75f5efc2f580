import { setImmediate } from 'node:timers/promises'
import { type WrittenNoun, written } from '@resource/contract'
import type {
  AuditEntry,
  Change,
  Changes,
  Columns,
  Entering,
  Entity,
  ListTable,
  NewRow,
  PageQuery,
  RecordTable,
  Tables,
  Where,
} from '@resource/database'
import type { Context } from './context.ts'
import { timestamp } from './timestamp.ts'

/** The tables that are not called as their resource is. */
const TABLES: { [Noun in Exclude<WrittenNoun, keyof Tables>]: keyof Tables } = { keys: 'apiKeys' }
const nouns = Object.keys(written) as WrittenNoun[]
const tableOf = (noun: WrittenNoun): keyof Tables =>
  (noun in TABLES ? TABLES[noun as keyof typeof TABLES] : noun) as keyof Tables

// Told by this name that it was written, and never what.
const secrets: { [Noun in WrittenNoun]?: { column: string; field: string } } = {
  users: { column: 'password_hash', field: 'password' },
}

// With the entries of one removal about as long as a removal without: a few milliseconds, in which nobody else is served.
const REMOVED_AT_ONCE = 250

type Told = Pick<AuditEntry, 'record_id' | 'before' | 'after'>

/**
 * The tables of a transaction, where every change of a record leaves its entry in the audit log: neither is stored
 * without the other.
 *
 * @param procedure what is called: `users.update`
 */
export function audited(tx: Tables, procedure: string, { caller, requestId, address }: Context): Tables {
  const call = {
    actor: caller.name,
    actor_detail: caller.detail ?? null,
    procedure,
    request_id: requestId ?? null,
    address: address?.() ?? null,
  }
  const tables: Record<string, unknown> = { ...tx }
  for (const noun of nouns) {
    const table = tx[tableOf(noun)] as unknown as RecordTable<Entity>
    const entering = { shared: { ...call, resource: noun }, shown: shown[noun], secret: secrets[noun] }
    tables[tableOf(noun)] = table.entering?.(entering) ?? new AuditedTable(table, tx.auditEntries, entering)
  }
  return tables as unknown as Tables
}

/** Fields of a record by which it is shown. */
const shown = Object.fromEntries(
  nouns.map((noun) => [noun, Object.keys(written[noun].procedures.get.output.shape)]),
) as Record<WrittenNoun, string[]>

/** Where the statement of a change cannot enter it: entries by statements of their own. */
class AuditedTable<Row extends Entity> implements RecordTable<Row> {
  readonly columns: Columns<Row>
  readonly #table: RecordTable<Row>
  readonly #entries: ListTable<AuditEntry>
  readonly #entering: Entering

  constructor(table: RecordTable<Row>, entries: ListTable<AuditEntry>, entering: Entering) {
    this.columns = table.columns
    this.#table = table
    this.#entries = entries
    this.#entering = entering
  }

  find<Column extends keyof Row = keyof Row>(
    where: Where<Row>,
    columns?: readonly Column[],
  ): Promise<Pick<Row, Column> | undefined> {
    return this.#table.find(where, columns)
  }

  page(query: PageQuery<Row>): Promise<Row[]> {
    return this.#table.page(query)
  }

  count(where: Where<Row>): Promise<number> {
    return this.#table.count(where)
  }

  async insert(row: NewRow<Row>): Promise<Row> {
    const after = await this.#table.insert(row)
    await this.#tell([{ record_id: after.id, before: null, after: this.#text(after, after) }])
    return after
  }

  async insertMany(rows: NewRow<Row>[]): Promise<Row[]> {
    const stored = await this.#table.insertMany(rows)
    await this.#tell(stored.map((after) => ({ record_id: after.id, before: null, after: this.#text(after, after) })))
    return stored
  }

  async update(id: number, versions: number[] | undefined, changes: Changes<Row>): Promise<Change<Row> | undefined> {
    const change = await this.#table.update(id, versions, changes)
    if (change === undefined || change.after.version === change.before.version) return change
    await this.#tell([{ record_id: id, before: this.#text(change.before), after: this.#text(change.after, changes) }])
    return change
  }

  async delete(id: number, versions: number[] | undefined): Promise<Row | undefined> {
    const before = await this.#table.delete(id, versions)
    if (before !== undefined) await this.#tell([{ record_id: id, before: this.#text(before), after: null }])
    return before
  }

  async deleteSome(where: Where<Row>, most: number): Promise<Row[]> {
    const rows = await this.#table.deleteSome(where, most)
    await this.#tell(rows.map((before) => ({ record_id: before.id, before: this.#text(before), after: null })))
    return rows
  }

  async deleteAll(where: Where<Row>): Promise<number> {
    for (let total = 0; ; await setImmediate()) {
      const { length } = await this.deleteSome(where, REMOVED_AT_ONCE)
      total += length
      if (length < REMOVED_AT_ONCE) return total
    }
  }

  async #tell(changes: Told[]): Promise<void> {
    if (changes.length === 0) return
    const shared = { ...this.#entering.shared, at: new Date() }
    await this.#entries.insertMany(changes.map((change) => ({ ...shared, ...change })))
  }

  /** A record as the contract shows it; of the secrets among what was written, that they were set. */
  #text(row: Row, written: object = {}): string {
    const record: Record<string, unknown> = {}
    const { shown, secret } = this.#entering
    for (const field of shown) {
      const value = row[field as keyof Row]
      record[field] = value instanceof Date ? timestamp(value) : value
    }
    if (secret !== undefined && (written as Record<string, unknown>)[secret.column] != null) {
      record[secret.field] = 'set'
    }
    return JSON.stringify(record)
  }
}
