import type * as DMMF from '@prisma/dmmf'
import type { Reference } from '../src/tables/declarations.ts'
import type { Kind } from '../src/tables/types.ts'

/** The parts of a model that are read. */
export type Model = Pick<DMMF.Model, 'name' | 'dbName' | 'primaryKey' | 'uniqueFields'> & { fields: readonly Field[] }

/** The parts of an index, key or unique field that are read. */
export type Index = Pick<DMMF.Index, 'model' | 'fields'>

type Field = Omit<DMMF.Field, 'isReadOnly' | 'hasDefaultValue'>

const KINDS: Record<string, { required: Kind; optional?: Kind }> = {
  Int: { required: 'int', optional: 'int?' },
  BigInt: { required: 'bigint' },
  Float: { required: 'float', optional: 'float?' },
  String: { required: 'text', optional: 'text?' },
  Boolean: { required: 'bool', optional: 'bool?' },
  DateTime: { required: 'date', optional: 'date?' },
}

/** Begins the comment of a column of the search index. */
export const SEARCH = /^@search\b/

interface Datamodel {
  models: readonly Model[]
  indexes: readonly Index[]
}

/** The declaration of each model's table. @throws Error that names the unsupported model and field */
export function declarationsOf({ models, indexes }: Datamodel) {
  return Object.fromEntries(
    models.map((model) => [keyOf(model), { ...declarationOf(model, models), indexed: indexedOf(model, indexes) }]),
  )
}

/** The source of `generated/tables.ts`: the type and the declaration of each model's table. */
export function tableDeclarations(datamodel: Datamodel): string {
  const { models } = datamodel
  const declarations = declarationsOf(datamodel)
  const tables = models.map((model) => ({ key: keyOf(model), type: typeOf(model) }))
  const types = [...new Set(tables.map(({ type }) => type))].sort()
  return `import type { ${models.map(({ name }) => name).join(', ')} } from './client.ts'
import type { ${types.join(', ')} } from '../src/tables/types.ts'

/** Every table. */
export interface Tables {
${tables.map(({ key, type }, index) => `  ${key}: ${type}<${models[index]?.name}>\n`).join('')}}

export const declarations = {
${tables.map(({ key }) => `  ${key}: ${JSON.stringify(declarations[key])},\n`).join('')}} as const
`
}

function typeOf({ fields }: Model): string {
  const names = new Set(fields.map(({ name }) => name))
  if (!names.has('id')) return 'Table'
  return names.has('version') ? 'RecordTable' : 'ListTable'
}

function declarationOf(model: Model, models: readonly Model[]) {
  const columns = model.fields.filter(({ kind }) => kind !== 'object')
  const key = model.primaryKey?.fields ?? columns.filter(({ isId }) => isId).map(({ name }) => name)
  if (key.length === 0) throw new Error(`Model ${model.name} has no @id or @@id.`)
  const together = model.uniqueFields.find(({ length }) => length > 1)
  if (together !== undefined) {
    throw new Error(
      `Model ${model.name}: @@unique([${together.join(', ')}]) is not supported. Use @unique on one field.`,
    )
  }
  const unique = [...columns.filter(({ isUnique }) => isUnique).map(({ name }) => name), ...model.uniqueFields.flat()]
  return {
    name: model.dbName ?? model.name,
    key,
    unique: [...new Set(unique)],
    columns: Object.fromEntries(columns.map((field) => [field.name, kindOf(model, field)])),
    search: columns
      .filter(({ documentation = '' }) => SEARCH.test(documentation))
      .map((field) => searchedName(model, field)),
    references: Object.fromEntries(
      model.fields
        .filter(({ relationFromFields = [] }) => relationFromFields.length > 0)
        .map((field) => [field.relationFromFields?.[0], referenceOf(model, field, models)]),
    ),
  }
}

function searchedName(model: Model, { name, type, isList, isRequired }: Field): string {
  if (type === 'String' && isRequired && !isList) return name
  throw new Error(`${model.name}.${name}: a column with @search must be a required String.`)
}

function indexedOf({ name }: Model, indexes: readonly Index[]): string[] {
  const first = indexes.filter(({ model }) => model === name).map(({ fields }) => fields[0]?.name as string)
  return [...new Set(first)]
}

function kindOf(model: Model, { name, dbName, type, isList, isRequired }: Field): Kind {
  const kinds = isList ? undefined : KINDS[type]
  const kind = isRequired ? kinds?.required : kinds?.optional
  if (kind === undefined) {
    const is = `${type}${isList ? '[]' : ''}${isRequired ? '' : '?'}`
    throw new Error(`${model.name}.${name}: the type ${is} is not supported. Use one of ${supportedTypes()}.`)
  }
  if (dbName) throw new Error(`${model.name}.${name}: @map is not supported. Use the column name as the field name.`)
  return kind
}

function referenceOf({ name: model }: Model, field: Field, models: readonly Model[]): Reference<string> {
  const { name, type, isRequired, relationFromFields = [], relationToFields = [], relationOnDelete } = field
  if (relationFromFields.length > 1 || relationToFields[0] !== 'id') {
    throw new Error(`${model}.${name}: a relation must have one field that references id.`)
  }
  // The defaults of Prisma.
  const onDelete = relationOnDelete ?? (isRequired ? 'Restrict' : 'SetNull')
  if (onDelete !== 'Restrict' && onDelete !== 'Cascade') {
    const source = relationOnDelete === undefined ? ', the default of an optional relation,' : ''
    throw new Error(
      `${model}.${name}: onDelete: ${onDelete}${source} is not supported. Set onDelete: Restrict or onDelete: Cascade.`,
    )
  }
  return { table: keyOf(models.find(({ name }) => name === type) as Model), onDelete }
}

function supportedTypes(): string {
  return Object.entries(KINDS)
    .flatMap(([type, { optional }]) => (optional === undefined ? [type] : [type, `${type}?`]))
    .join(', ')
}

/** `apiKeys` for the table `api_keys`. */
function keyOf({ name, dbName }: Model): string {
  return (dbName ?? name).replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}
