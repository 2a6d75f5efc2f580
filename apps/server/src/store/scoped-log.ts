import { grouped } from '@resource/contract'
import {
  type AuditEntry,
  createPacer,
  type ListTable,
  type PageQuery,
  type Scopes,
  type SummaryQuery,
  type Where,
} from '@resource/database'
import { ApiError } from '@resource/openapi'
import { recordedIn } from './recorded.ts'

type Page<Column extends keyof AuditEntry> = PageQuery<AuditEntry, Column>

const BATCH = 200
// Reading and decoding these takes some 200 ms, with pauses for other requests.
const MAX_EXAMINED = 20_000
const NEEDED = ['id', 'resource', 'before', 'after'] as const

const cut = new WeakSet<object>()

/** Whether an entry lacks the record before or after the change, because that is outside the scope of its reader. */
export function isCut(entry: object): boolean {
  return cut.has(entry)
}

/**
 * The audit log with the changes of records in some scopes only: of those that were in one before or after the change. An entry
 * lacks the record outside. No index serves this, so the entries that other conditions select are examined in their order.
 */
export class ScopedLog implements ListTable<AuditEntry> {
  readonly columns: ListTable<AuditEntry>['columns']
  readonly searchLimit: number | undefined = undefined
  readonly write: ListTable<AuditEntry>['write']
  readonly deleteAll: ListTable<AuditEntry>['deleteAll']
  readonly #all: ListTable<AuditEntry>
  readonly #scopes: Scopes

  constructor(all: ListTable<AuditEntry>, scopes: Scopes) {
    this.columns = all.columns
    this.write = (rows) => all.write(rows)
    this.deleteAll = (where, limit) => all.deleteAll(where, limit)
    this.#all = all
    this.#scopes = scopes
  }

  async find<Column extends keyof AuditEntry = keyof AuditEntry>(
    where: Where<AuditEntry>,
    columns?: readonly Column[],
  ) {
    const [first] = await this.page({ where, order: { column: 'id', descending: false }, take: 1, columns })
    return first
  }

  /** The order is that of the ids. */
  async page<Column extends keyof AuditEntry = keyof AuditEntry>({ skip = 0, ...query }: Page<Column>) {
    const rows: Pick<AuditEntry, Column>[] = []
    let skipped = 0
    for await (const entry of this.#visible(query)) {
      if (skipped < skip) skipped++
      else rows.push(entry)
      if (rows.length >= query.take) break
    }
    return rows
  }

  async count(where: Where<AuditEntry>): Promise<number> {
    const [all] = await this.summarize({ where, limit: 1 })
    return all?.count ?? 0
  }

  /** The numbers are the ids. */
  async summarize({ where, by, limit }: SummaryQuery<AuditEntry>) {
    const groups = new Map<unknown, number[]>(by === undefined ? [[null, []]] : [])
    const columns = by === undefined ? [] : [by]
    const order = { column: 'id', descending: false } as const
    for await (const entry of this.#visible({ where, order, columns, take: MAX_EXAMINED })) {
      const value = by === undefined ? null : entry[by]
      const ids = groups.get(value)
      if (ids === undefined) groups.set(value, [entry.id])
      else ids.push(entry.id)
    }
    const found = [...groups].map(([value, ids]) => ({
      value,
      count: ids.length,
      minimum: ids[0] ?? null,
      mean: null,
      maximum: ids.at(-1) ?? null,
    }))
    return found.toSorted((a, b) => b.count - a.count).slice(0, limit)
  }

  async *#visible<Column extends keyof AuditEntry>({ columns, seek = [{}], where, order }: Page<Column>) {
    const wanted = columns && [...new Set([...columns, ...NEEDED])]
    const pace = createPacer()
    let examined = 0
    for (const range of seek) {
      for (let rest = range; ; ) {
        await pace()
        const rows = await this.#all.page({ where, seek: [rest], order, columns: wanted, take: BATCH })
        for (const row of rows) {
          const entry = this.#seen(row as AuditEntry)
          if (entry !== undefined) yield entry
        }
        examined += rows.length
        const last = rows.at(-1) as AuditEntry | undefined
        if (last === undefined || rows.length < BATCH) break
        if (examined >= MAX_EXAMINED) throw tooMany()
        rest = { id: order.descending ? { lt: last.id } : { gt: last.id } }
      }
    }
  }

  #seen(row: AuditEntry): AuditEntry | undefined {
    const scope = this.#scopes.get(row.resource)
    if (scope === undefined) return row
    const inside = (json: string | null) => {
      const record = recordedIn(json)
      return record && scope.outside(record) === undefined ? json : null
    }
    const [before, after] = [inside(row.before), inside(row.after)]
    if (before === null && after === null) return undefined
    const entry = { ...row, before, after }
    if (before !== row.before || after !== row.after) cut.add(entry)
    return entry
  }
}

function tooMany(): ApiError {
  const many = grouped(MAX_EXAMINED)
  return new ApiError(400, `More than ${many} entries would be searched for those that you have access to; add filters`)
}
