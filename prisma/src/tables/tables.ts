import { type Declarations, declarations, mapDeclarations } from './declarations.ts'
import type { Executor } from './executor.ts'
import type { Session, TableOptions } from './locks.ts'
import { referencesOf } from './references.ts'
import { SqlText } from './statements.ts'
import { SqlTable } from './table.ts'

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
  let local: ReturnType<typeof infos> | undefined
  let remote: typeof local
  return (executor, options = {}) => {
    if (executor.isRemote) remote ??= infos(true)
    else local ??= infos(false)
    const ofEngine = (executor.isRemote ? remote : local) as ReturnType<typeof infos>
    const session: Session = { executor, tables: {}, ...options }
    for (const name in ofEngine) session.tables[name] = new SqlTable(ofEngine[name], session)
    return session.tables as All
  }
}
