import type { Prisma } from '../generated/client.ts'
import { declarations as generated, type Tables } from '../generated/tables.ts'
import type { Columns, Table } from './table.ts'

export type { Tables }

/** What the engine needs to know of a table. */
export interface Declaration<Row> {
  /** Its name in SQL. */
  name: string
  /** Its model's name on a Prisma client. */
  model: Uncapitalize<Prisma.ModelName>
  key: readonly (keyof Row)[]
  /** The columns, other than the key, each of whose values at most one row has. */
  unique: readonly (keyof Row)[]
  columns: Columns<Row>
}

type RowOf<T> = T extends Table<infer Row> ? Row : never

// A generated declaration that does not fit Prisma's row type does not compile.
const declarations: { [Name in keyof Tables]: Declaration<RowOf<Tables[Name]>> } = generated

/** Something for each table, from its declaration. */
export function mapTables<T>(make: (declaration: AnyDeclaration, name: keyof Tables) => T) {
  const made = {} as Record<keyof Tables, T>
  for (const name of names) made[name] = make(declarations[name], name)
  return made
}

// biome-ignore lint/suspicious/noExplicitAny: each declaration has a row of its own
type AnyDeclaration = Declaration<any>
const names = Object.keys(declarations) as (keyof Tables)[]
