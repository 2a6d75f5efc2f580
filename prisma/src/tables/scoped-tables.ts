import { ReferenceViolation } from '../errors.ts'
import { type Declarations, declarations } from './declarations.ts'
import { idsOf, referringColumns } from './references.ts'
import type { Scope, ScopedRow } from './scope.ts'
import { type Related, ScopedTable } from './scoped-table.ts'
import type { RecordTable } from './types.ts'

/** The scopes of tables, by their names. All rows of a table without one exist. */
export type Scopes = ReadonlyMap<PropertyKey, Scope>

/** The tables as a caller with scopes sees them. Prisma's client among them still sees everything. */
export const scopedTables = scopedTablesOf(declarations)

const everything = new WeakMap<object, object>()

/** The tables with all rows, of those with scopes: for what shows nothing of a row. */
export function unscoped<T extends object>(tables: T): T {
  return (everything.get(tables) ?? tables) as T
}

/** Returns a function that narrows the tables of some declarations, with the tables that replace others. */
export function scopedTablesOf<All extends object>(of: Declarations<All>) {
  const referring = referringColumns(of)
  const related = new Set(referring.flatMap(({ table, to }) => [table, to]))

  return <T extends All>(all: T, scopes: Scopes, others: Partial<All> = {}): T => {
    const tableOf = (tables: object, name: PropertyKey): RecordTable<ScopedRow> => Reflect.get(tables, name)
    const view: T = Object.create(all)
    everything.set(view, all)
    const visible = (name: PropertyKey) => async (ids: number[]) => new Set(await idsOf(tableOf(view, name), 'id', ids))
    const refuseCascades = async (name: PropertyKey, ids: number[], seen: Set<string>): Promise<void> => {
      const fresh = ids.filter((id) => !seen.has(`${String(name)} ${id}`))
      for (const id of fresh) seen.add(`${String(name)} ${id}`)
      if (fresh.length === 0) return
      for (const { table, column, to, onDelete } of referring) {
        if (to !== name || onDelete !== 'Cascade') continue
        const deleted = await idsOf(tableOf(all, table), column, fresh)
        if (scopes.has(table) && (await tableOf(view, table).count({ [column]: { in: fresh } })) < deleted.length)
          throw new ReferenceViolation([], { referring: { table: String(table), column } })
        await refuseCascades(table, deleted, seen)
      }
    }
    const narrowed = (name: PropertyKey) => {
      const own: Related = {
        references: referring.flatMap(({ table, column, to }) =>
          table === name && scopes.has(to) ? [{ column, visible: visible(to) }] : [],
        ),
        refuseCascades: (ids) => refuseCascades(name, ids, new Set()),
      }
      return new ScopedTable(tableOf(all, name), scopes.get(name), own)
    }
    for (const name of new Set([...related, ...scopes.keys()])) {
      let made: ScopedTable | undefined
      Object.defineProperty(view, name, {
        get: () => {
          made ??= narrowed(name)
          return made
        },
      })
    }
    for (const [name, value] of Object.entries(others)) Object.defineProperty(view, name, { value })
    return view
  }
}
