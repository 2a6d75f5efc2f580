import type { Entity, RecordTable } from './table.ts'
import { mapTables, type Tables } from './tables.ts'

/** The tables without their writes: what a write decides belongs into `Database.write`. */
export function readOnly(tables: Tables): Tables {
  return mapTables((_, name) => {
    const table = tables[name] as RecordTable<Entity>
    return {
      columns: table.columns,
      find: table.find.bind(table),
      page: table.page.bind(table),
      count: table.count.bind(table),
      insert: refuse,
      insertMany: refuse,
      update: refuse,
      delete: refuse,
      deleteAll: refuse,
      deleteSome: refuse,
    } satisfies RecordTable<Entity>
  }) as unknown as Tables
}

async function refuse(): Promise<never> {
  throw new Error('Database.read cannot write, as of a readonly database: use Database.write.')
}
