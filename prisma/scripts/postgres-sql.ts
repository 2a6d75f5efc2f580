/**
 * What Prisma's models cannot say of PostgreSQL, put into the SQL written for them. Prisma sees no difference between
 * the two, so a later migration does not undo it.
 *
 * - Text compares by code point, as in SQLite, whatever order the database has: `COLLATE "C"`.
 * - Null sorts below every value, in both directions, and the indexes are in that order.
 *
 * @param sql as Prisma's schema engine writes it
 * @param models as in schema.prisma
 */
export function postgresSql(sql: string, models: string): string {
  const nullable = nullableColumns(models)
  return sql
    .replace(/^(?!--).*/gm, (line) => line.replace(/\bTEXT\b/g, 'TEXT COLLATE "C"'))
    .replace(
      /^(CREATE (?:UNIQUE )?INDEX .* ON "(\w+)")\((.*)\);$/gm,
      (_, create: string, table: string, columns: string) =>
        `${create}(${columns.replace(/"(\w+)"( DESC)?/g, (column, name: string, descending?: string) => {
          if (!nullable.has(`${table}.${name}`)) return column
          return `${column} NULLS ${descending === undefined ? 'FIRST' : 'LAST'}`
        })});`,
    )
}

function nullableColumns(models: string): Set<string> {
  return new Set(
    models.split(/^model /m).flatMap((model) => {
      const table = /@@map\("(\w+)"\)/.exec(model)?.[1]
      return [...model.matchAll(/^ +(\w+) +\w+\?/gm)].map(([, column]) => `${table}.${column}`)
    }),
  )
}
