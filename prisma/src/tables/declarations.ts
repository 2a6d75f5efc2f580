import { declarations as generated, type Tables } from '../../generated/tables.ts'
import type { Columns, Table } from './types.ts'

export type { Tables }

/** The declaration of a table. */
export interface Declaration<Row, Name = PropertyKey> {
  /** Its name in SQL. */
  name: string
  key: readonly (keyof Row)[]
  /** The unique columns other than the key. */
  unique: readonly (keyof Row)[]
  columns: Columns<Row>
  /** The first column of each index. */
  indexed: readonly (keyof Row)[]
  /** The columns of the search index, in the form of `searchKey`; empty for a table without one. */
  search: readonly (keyof Row)[]
  /** The columns that reference the id of a record in another table; they may be null. */
  references: { readonly [Column in keyof Row]?: Reference<Name> }
}

export interface Reference<Name> {
  /** Its name in the declarations. */
  table: Name
  /** Whether deleting the referenced record fails, or deletes the row as well. */
  onDelete: 'Restrict' | 'Cascade'
}

type RowOf<T> = T extends Table<infer Row> ? Row : never

// Type check: a generated declaration that does not match Prisma's row type does not compile.
export const declarations: Declarations<Tables> = generated

export type Declarations<All> = { readonly [Name in keyof All]: Declaration<RowOf<All[Name]>, keyof All> }

/** Maps each table's declaration to a value. */
export function mapDeclarations<All, T>(
  declarations: Declarations<All>,
  make: (declaration: AnyDeclaration, name: keyof All) => T,
) {
  const made = {} as Record<keyof All, T>
  for (const name in declarations) made[name] = make(declarations[name], name)
  return made
}

// biome-ignore lint/suspicious/noExplicitAny: each declaration has its own row type
type AnyDeclaration = Declaration<any>
