import { declarations as generated, type Tables } from '../generated/tables.ts'
import type { Columns, Table } from './table.ts'

export type { Tables }

/** What the engine needs to know of a table. */
export interface Declaration<Row, Name = PropertyKey> {
  /** Its name in SQL. */
  name: string
  key: readonly (keyof Row)[]
  /** The columns, other than the key, each of whose values at most one row has. */
  unique: readonly (keyof Row)[]
  columns: Columns<Row>
  /** The columns that an index begins with. */
  indexed: readonly (keyof Row)[]
  /** The columns that hold the id of a record of another table, or null. */
  references: { readonly [Column in keyof Row]?: Reference<Name> }
}

export interface Reference<Name> {
  /** Among the declarations. */
  table: Name
  /** Whether a delete of that record is refused, or deletes the row as well. */
  onDelete: 'Restrict' | 'Cascade'
}

type RowOf<T> = T extends Table<infer Row> ? Row : never

// A generated declaration that does not fit Prisma's row type does not compile.
export const declarations: Declarations<Tables> = generated

export type Declarations<All> = { readonly [Name in keyof All]: Declaration<RowOf<All[Name]>, keyof All> }

/** Something for each table, from its declaration. */
export function mapDeclarations<All, T>(
  declarations: Declarations<All>,
  make: (declaration: AnyDeclaration, name: keyof All) => T,
) {
  const made = {} as Record<keyof All, T>
  for (const name in declarations) made[name] = make(declarations[name], name)
  return made
}

// biome-ignore lint/suspicious/noExplicitAny: each declaration has a row of its own
type AnyDeclaration = Declaration<any>
