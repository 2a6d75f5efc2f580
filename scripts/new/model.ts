import { type Field, searchKeyOf, UsageError } from './fields.ts'
import type { Names } from './names.ts'

/**
 * Appends a model, and adds the back-relations that Prisma requires to the models it refers to.
 *
 * @param referredTo names of the referenced models by collection
 */
export function withModel(models: string, names: Names, fields: Field[], referredTo: Map<string, string>): string {
  const { table, model } = names
  return fields.reduce(
    (text, { relation }) => {
      if (relation === undefined) return text
      const named = relationName(relation, fields, table)
      const line = `  ${named} ${model}[]${named === table ? '' : ` @relation("${named}")`}\n`
      const fieldsOf = new RegExp(`(?<=^model ${referredTo.get(relation.collection)} \\{\n[^}]*?)(?=\n  @@)`, 'm')
      return text.replace(fieldsOf, line)
    },
    `${models}\n${modelSource(names, fields, referredTo)}`,
  )
}

/** @throws UsageError when the model does not exist or another model refers to it */
export function withoutModel(models: string, { model, label }: Names): string {
  const [block = ''] = new RegExp(`\\nmodel ${model} \\{\\n[^}]*\\}\\n`).exec(models) ?? []
  if (block === '') throw new UsageError(`${label}: no model ${model}. If its singular is irregular, add --one.`)
  const [, other] = /^ +\w+ +(\w+)\[\]/m.exec(block) ?? []
  if (other !== undefined) throw new UsageError(`${label}: the model ${other} refers to it. Remove ${other} first.`)
  return models.replace(block, '').replace(new RegExp(`^  \\w+ +${model}\\[\\].*\\n`, 'gm'), '')
}

function modelSource({ table, model }: Names, fields: Field[], referredTo: Map<string, string>): string {
  const rows = [
    ['id', 'Int', '@id @default(autoincrement())'],
    ...fields.flatMap((field) => rowsOf(field, fields, table, referredTo)),
    ['version', 'Int', '@default(1)'],
    ['created_at', 'DateTime', ''],
    ['updated_at', 'DateTime', ''],
  ]
  const [names, types] = [0, 1].map((column) =>
    Math.max(...rows.filter(({ length }) => length > 1).map((row) => row[column]?.length ?? 0)),
  )
  const lines = rows.map(([name = '', type, attributes]) =>
    type === undefined
      ? `  ${name}`
      : `  ${name.padEnd(names ?? 0)} ${type.padEnd(types ?? 0)} ${attributes}`.trimEnd(),
  )
  const indexes = fields.flatMap(({ name, filters, column }) => [
    `  @@index([${name}, id])`,
    // A descending index for columns with few distinct values: see schema.prisma.
    ...(filters === 'value' && column !== 'Int'
      ? [`  @@index([${name}(sort: Desc), id], map: "${table}_${name}_desc_id_idx")`]
      : []),
  ])
  indexes.push('  @@index([created_at, id])', '  @@index([updated_at, id])')
  return `model ${model} {\n${lines.join('\n')}\n\n${indexes.join('\n')}\n  @@map("${table}")\n}\n`
}

/** The lines of a field: name, type and attributes, or a comment. */
function rowsOf(field: Field, fields: Field[], table: string, referredTo: Map<string, string>): string[][] {
  const { name, column, nullable, unique, searched, relation } = field
  const optional = nullable ? '?' : ''
  const row = [name, `${column}${optional}`, unique ? '@unique' : '']
  if (searched) {
    const comment = `/// @search The ${name} in the form of \`searchKey\`.`
    return [row, [comment], [searchKeyOf(field), 'String', '@default("")']]
  }
  if (relation === undefined) return [row]
  const named = relationName(relation, fields, table)
  const attribute = `@relation(${named === table ? '' : `"${named}", `}fields: [${name}], references: [id], onDelete: ${relation.onDelete})`
  return [[relation.name, `${referredTo.get(relation.collection)}${optional}`, attribute], row]
}

/** Several relations to one model need distinct names: `orders_buyer` and `orders_seller`. */
function relationName({ name, collection }: NonNullable<Field['relation']>, fields: Field[], table: string): string {
  return fields.filter(({ relation }) => relation?.collection === collection).length > 1 ? `${table}_${name}` : table
}

/** Model names by table. */
export function modelsIn(schemaPrisma: string): Map<string, string> {
  return new Map(
    [...schemaPrisma.matchAll(/^model (\w+) \{[^}]*@@map\("(\w+)"\)/gm)].map(([, model = '', table = '']) => [
      table,
      model,
    ]),
  )
}

/** Names of the referenced models by foreign key field. */
export function relationsOf(schemaPrisma: string, model: string): Map<string, string> {
  const [block = ''] = new RegExp(`^model ${model} \\{[^}]*\\}`, 'm').exec(schemaPrisma) ?? []
  const relations = [...block.matchAll(/^ +\w+ +(\w+)\?? +@relation\(.*fields: \[(\w+)\]/gm)]
  return new Map(relations.map(([, other = '', field = '']) => [field, other]))
}
