import { type Declarations, declarations, mapDeclarations } from './declarations.ts'
import type { Executor } from './executor.ts'
import type { Session, TableInfo, TableOptions } from './locks.ts'
import { referencesOf } from './references.ts'
import { SqlText } from './statements.ts'
import { SqlTable } from './table.ts'
import type { Entity } from './types.ts'

/** All tables, through an executor. */
export const sqlTables = sqlTablesOf(declarations)

/** Returns a function that makes the tables of some declarations, through an executor. */
export function sqlTablesOf<All>(declarations: Declarations<All>): (executor: Executor, options?: TableOptions) => All {
  const references = referencesOf(declarations)
  const infos = (isRemote: boolean) =>
    mapDeclarations(declarations, (declaration, name) => ({
      name,
      columns: declaration.columns,
      text: new SqlText(declaration, isRemote, references[name].referencedTables),
      references: references[name],
    }))
  let local: ReturnType<typeof lazily> | undefined
  let remote: typeof local
  return (executor, options) => {
    if (executor.isRemote) remote ??= lazily(infos(true))
    else local ??= lazily(infos(false))
    const Lazy = (executor.isRemote ? remote : local) as ReturnType<typeof lazily>
    return new Lazy(executor, options) as All
  }
}

/** A class with a property for each table, which is made when it is first read: a write uses few. */
function lazily(infos: Record<string, TableInfo<Entity>>) {
  class LazyTables {
    readonly made: Session['tables'] = {}
    readonly session: Session

    constructor(executor: Executor, options?: TableOptions) {
      this.session = { executor, tables: this as object as Session['tables'], ...options }
    }
  }
  for (const [name, info] of Object.entries(infos)) {
    const get = function (this: LazyTables) {
      this.made[name] ??= new SqlTable(info, this.session)
      return this.made[name]
    }
    Object.defineProperty(LazyTables.prototype, name, { get })
  }
  return LazyTables
}
