import { searchKey } from '../../prisma/src/tables/search.ts'
import { type Field, searchKeyOf, UsageError } from './fields.ts'
import type { Names } from './names.ts'

/**
 * Appends a model, and adds the back-relations that Prisma requires to the models it refers to.
 *
 * @param referredTo names of the referenced models by collection
 * @throws UsageError if a name is too long or a referenced model has a field with the name of the back-relation
 */
export function withModel(models: string, names: Names, fields: Field[], referredTo: Map<string, string>): string {
  return withBackRelations(`${models}\n${modelSource(names, fields, referredTo)}`, names, fields, referredTo)
}

/**
 * Adds columns with their indexes to the model.
 *
 * @throws UsageError as `withModel`, and if there is no such model or it has a field with the name of a new one
 */
export function withColumns(models: string, names: Names, fields: Field[], referredTo: Map<string, string>): string {
  const { table, model, label } = names
  const [block = ''] = new RegExp(`^model ${model} \\{\\n[^}]*\\}\\n`, 'm').exec(models) ?? []
  const [, name = '', type = ''] = /^ {2}(version +)(Int +)@/m.exec(block) ?? []
  if (name === '') throw new UsageError(`${label}: no model ${model}. If its singular is irregular, add --one.`)
  // A further relation to the same model needs a name.
  const related = [...block.matchAll(/^ +\w+ +(\w+)\??.*@relation/gm)].map(([, other]) => other)
  const siblings = fields.flatMap((field) =>
    related.includes(referredTo.get(field.relation?.collection ?? '')) ? [field, field] : [field],
  )
  const rows = fields.flatMap((field) => rowsOf(field, siblings, table, referredTo))
  const taken = rows.find(([column = '']) => new RegExp(`^ {2}${column} `, 'm').test(block))
  if (taken !== undefined) throw new UsageError(`${label}: ${taken[0]} already exists. Choose another name.`)
  const lines = rows.map((row) => lineOf(row, name.length - 1, type.length - 1))
  const longer = block
    .replace(/^(?= {2}version )/m, () => `${lines.join('\n')}\n`)
    .replace(/^(?= {2}@@map)/m, () => `${fields.flatMap((field) => indexesOf(table, field, true)).join('\n')}\n`)
  return withBackRelations(
    models.replace(block, () => longer),
    names,
    siblings,
    referredTo,
  )
}

function withBackRelations(
  models: string,
  { table, model, label }: Names,
  fields: Field[],
  referredTo: Map<string, string>,
) {
  return [...new Set(fields)].reduce((text, { relation }) => {
    if (relation === undefined) return text
    const named = relationName(relation, fields, table)
    const line = `  ${named} ${model}[]${named === table ? '' : ` @relation("${named}")`}\n`
    const other = referredTo.get(relation.collection)
    if (new RegExp(`^model ${other} \\{[^}]*\n  ${named} `, 'm').test(text)) {
      throw new UsageError(
        `${label}: the model ${other} already has a field ${named}, so it cannot list the ${label} that refer to it. Choose another name.`,
      )
    }
    const fieldsOf = new RegExp(`(?<=^model ${other} \\{\n[^}]*?)(?=\n  @@)`, 'm')
    return text.replace(fieldsOf, line)
  }, models)
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
  const lines = rows.map((row) => lineOf(row, names ?? 0, types ?? 0))
  const indexes = [...fields, { name: 'created_at' }, { name: 'updated_at' }].flatMap((field) =>
    indexesOf(table, field),
  )
  return `model ${model} {\n${lines.join('\n')}\n\n${indexes.join('\n')}\n  @@map("${table}")\n}\n`
}

/**
 * @param isShared whether most records have one value, null or the default, because they exist already
 * @throws UsageError if PostgreSQL would cut the name of an index
 */
function indexesOf(table: string, { name, filters, column }: Partial<Field>, isShared = false): string[] {
  const ascending = `  @@index([${name}, id])`
  // A descending index for columns with few distinct values: see schema.prisma. Its suffix differs from Prisma's `_id_idx`,
  // so that `status` and `status_desc` can be fields of one model.
  const isDescending = isShared || (filters === 'value' && column !== 'Int')
  const index = `${table}_${name}${isDescending ? '_id_desc_idx' : '_id_idx'}`
  if (index.length > 63) {
    throw new UsageError(
      `${name}: the name of its index, ${index}, has ${index.length} characters; must have at most 63. Choose a shorter name for the field or the resource.`,
    )
  }
  return isDescending ? [ascending, `  @@index([${name}(sort: Desc), id], map: "${index}")`] : [ascending]
}

function lineOf([name = '', type, attributes]: string[], names: number, types: number): string {
  return type === undefined ? `  ${name}` : `  ${name.padEnd(names)} ${type.padEnd(types)} ${attributes}`.trimEnd()
}

/** The lines of a field: name, type and attributes, or a comment. */
function rowsOf(field: Field, fields: Field[], table: string, referredTo: Map<string, string>): string[][] {
  const { name, column, nullable, unique, searched, relation, existing } = field
  const optional = nullable ? '?' : ''
  const initial = existing === undefined ? '' : `@default(${JSON.stringify(existing)})`
  const row = [name, `${column}${optional}`, unique ? '@unique' : initial]
  if (searched) {
    const comment = `/// @search The ${name} in the form of \`searchKey\`.`
    const key = JSON.stringify(searchKey(String(existing ?? '')))
    return [row, [comment], [searchKeyOf(field), 'String', `@default(${key})`]]
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
