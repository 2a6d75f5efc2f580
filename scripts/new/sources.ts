import type { Field } from './fields.ts'
import { type Names, upper } from './names.ts'

/** The declaration in the contract, for Biome to format. */
export function declarationSource({ noun, one, path, words }: Names, fields: Field[]): string {
  const schemas = fields.map((field) => `${field.name}: ${schemaOf(field)},`)
  const helpers = [...new Set(fields.flatMap((field) => field.helpers))]
  const own = helpers.filter((helper) => helper !== 'reference')
  const usesZod = fields.some(({ schema }) => schema.startsWith('z.'))
  const filters = fields.flatMap(filtersOf)
  return lines(
    usesZod && "import { z } from 'zod'",
    "import { collection } from './collection.ts'",
    own.length > 0 && `import { ${own.join(', ')} } from './fields.ts'`,
    helpers.includes('reference') && "import { reference } from './reference.ts'",
    '',
    `export const ${noun} = collection({`,
    `noun: '${noun}',`,
    one !== noun.slice(0, -1) && `one: '${one}',`,
    `description: ${JSON.stringify(`${upper(words)} with ${listed(fields.map(inWords))}.`)},`,
    `fields: { ${schemas.join('\n')} },`,
    'timestamps: true,',
    filters.length > 0 && `filters: ${JSON.stringify(filters)},`,
    path !== noun && `path: '/${path}',`,
    '})',
  )
}

/**
 * The model, in Prisma's form.
 *
 * @param models the models of the collections that are referred to
 */
export function modelSource({ table, model }: Names, fields: Field[], models: Map<string, string>): string {
  const rows = [
    ['id', 'Int', '@id @default(autoincrement())'],
    ...fields.flatMap((field) => rowsOf(field, fields, table, models)),
    ['version', 'Int', '@default(1)'],
    ['created_at', 'DateTime', ''],
    ['updated_at', 'DateTime', ''],
  ]
  const [names, types] = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const lines = rows.map(([name = '', type = '', attributes]) =>
    `  ${name.padEnd(names ?? 0)} ${type.padEnd(types ?? 0)} ${attributes}`.trimEnd(),
  )
  const indexes = fields.flatMap(({ name, filters, column }) => [
    `  @@index([${name}, id])`,
    // Few distinct values: schema.prisma says what for.
    ...(filters === 'value' && column !== 'Int'
      ? [`  @@index([${name}(sort: Desc), id], map: "${table}_${name}_desc_id_idx")`]
      : []),
  ])
  return `model ${model} {\n${lines.join('\n')}\n\n${indexes.join('\n')}\n  @@map("${table}")\n}\n`
}

function rowsOf(
  { name, column, nullable, unique, relation }: Field,
  fields: Field[],
  table: string,
  models: Map<string, string>,
) {
  const mark = nullable ? '?' : ''
  const row = [name, `${column}${mark}`, unique ? '@unique' : '']
  if (relation === undefined) return [row]
  const named = relationName(relation, fields, table)
  const attribute = `@relation(${named === table ? '' : `"${named}", `}fields: [${name}], references: [id], onDelete: ${relation.onDelete})`
  return [[relation.name, `${models.get(relation.collection)}${mark}`, attribute], row]
}

/** The lines that Prisma wants in the models that are referred to, by model. */
export function backRelations({ table, model }: Names, fields: Field[], models: Map<string, string>) {
  return fields.flatMap((field) => {
    if (field.relation === undefined) return []
    const named = relationName(field.relation, fields, table)
    const line = `${named} ${model}[]${named === table ? '' : ` @relation("${named}")`}`
    return [{ model: models.get(field.relation.collection) ?? '', line }]
  })
}

/** Two relations to one model need names: `orders_buyer` and `orders_seller`. */
function relationName({ name, collection }: NonNullable<Field['relation']>, fields: Field[], table: string): string {
  return fields.filter(({ relation }) => relation?.collection === collection).length > 1 ? `${table}_${name}` : table
}

/** The request that makes what a reference refers to, and the path of the record. */
export interface Target {
  collection: string
  create: string
  json: unknown
  path: string
}

/**
 * The promises of the resource, for Biome to format.
 *
 * @param targets what its records refer to, in the order in which it is made
 */
export function testSource({ one, path, words, oneInWords }: Names, fields: Field[], targets: Target[]): string {
  const [first, second] = [0, 1].map((at) => Object.fromEntries(fields.map(({ name, values }) => [name, values[at]])))
  const [changed] = fields as [Field]
  const change = { [changed.name]: changed.values[1] }
  const a = `${/^[aeio]/.test(one) ? 'an' : 'a'} ${oneInWords}`
  const start = targets.length > 0 ? 'startWithReferences()' : 'startTestServer()'
  const json = JSON.stringify
  const create = (record: string) => `await server.request('POST', '/${path}', { json: ${record} })`
  const lists = fields.flatMap((field) => {
    const { name, filters, values } = field
    if (filters === 'none') return []
    const [filter, found] =
      filters === 'value' ? [name, values.map((value) => value === values[0])] : [`${name}_gte`, [false, true]]
    const ids = found.flatMap((is, at) => (is ? [at + 1] : []))
    return [[`${filter}=${filters === 'value' ? values[0] : values[1]}`, ids]]
  })
  const optional = fields.filter((field) => field.default !== undefined)
  const required = fields.filter((field) => field.default === undefined)
  const uniques = fields.filter(({ unique }) => unique)

  return `
import { expect, test } from 'vitest'
import { startTestServer } from './harness.ts'
import { aTimestamp } from './records.ts'

const first = ${json(first)}
const second = ${json(second)}
${
  targets.length === 0
    ? ''
    : `
/** The service with the records that ${a} refers to. */
async function startWithReferences() {
  const server = await startTestServer()
  ${targets.map((target) => `await server.request('POST', '${target.create}', { json: ${json(target.json)} })`).join('\n')}
  return server
}
`
}
test('${a} is created with an id and read back', async () => {
  await using server = await ${start}
  const created = ${create('first')}
  expect(created.status).toBe(201)
  expect(created.body).toEqual({ id: 1, ...first, created_at: aTimestamp, updated_at: aTimestamp })
  expect((await server.request('GET', '/${path}/1')).body).toEqual(created.body)
})
${
  optional.length === 0
    ? ''
    : `
test('${a} may leave out ${listed(optional.map(({ name }) => name))}', async () => {
  await using server = await ${start}
  const { status, body } = ${create(json(Object.fromEntries(required.map(({ name, values }) => [name, values[0]]))))}
  expect(status).toBe(201)
  expect(body).toMatchObject(${json(Object.fromEntries(optional.map((field) => [field.name, field.default])))})
})
`
}
test.each([${fields.map(({ name, invalid }) => json([name, invalid])).join(', ')}])(
  '${a} whose %s is %j is refused, and the answer names the field', async (field, value) => {
  await using server = await ${start}
  const { status, body } = ${create('{ ...first, [field]: value }')}
  expect(status).toBe(400)
  expect(body).toEqual({ message: expect.stringMatching(\`^\${field}: must be \`) })
})
${uniques
  .map(
    ({ name }) => `
test('no two ${words} have the same ${name}', async () => {
  await using server = await ${start}
  ${create('first')}
  const { status, body } = ${create(`{ ...second, ${name}: first.${name} }`)}
  expect(status).toBe(409)
  expect(body).toEqual({ message: '${name}: already in use by another ${one}' })
})
`,
  )
  .join('')}${
  lists.length === 0
    ? ''
    : `
test.each([${lists.map((list) => json(list)).join(', ')}])('${words} are listed by %s', async (filter, ids) => {
  await using server = await ${start}
  ${create('first')}
  ${create('second')}
  const { status, body } = await server.request('GET', \`/${path}?\${filter}\`)
  expect(status).toBe(200)
  expect(body).toMatchObject(ids.map((id) => ({ id })))
})
`
}
test('${a} is replaced', async () => {
  await using server = await ${start}
  ${create('first')}
  const { status, body } = await server.request('PUT', '/${path}/1', { json: second })
  expect(status).toBe(200)
  expect(body).toMatchObject({ id: 1, ...second })
})

test('${a} is updated at the version that was read, and at no other', async () => {
  await using server = await ${start}
  ${create('first')}
  const tag = (await server.request('GET', '/${path}/1')).headers.get('ETag') ?? ''
  const update = (tag: string) =>
    server.request('PATCH', '/${path}/1', { json: ${json(change)}, headers: { 'If-Match': tag } })
  expect((await update(tag.replace('1', '2'))).status).toBe(412)
  const { status, body } = await update(tag)
  expect(status).toBe(200)
  expect(body).toMatchObject({ ...first, ${json(change).slice(1, -1)} })
})

test('${a} is deleted', async () => {
  await using server = await ${start}
  ${create('first')}
  expect((await server.request('DELETE', '/${path}/1')).status).toBe(204)
  const { status, body } = await server.request('GET', '/${path}/1')
  expect(status).toBe(404)
  expect(body).toEqual({ message: '${upper(one)} not found' })
})
${targets
  .map(({ collection, path: target }) => {
    const relations = fields.flatMap(({ relation }) => (relation?.collection === collection ? [relation] : []))
    const isKept = relations.some(({ onDelete }) => onDelete === 'Restrict')
    if (relations[0] === undefined) return ''
    return `
test('${isKept ? `the ${relations[0].name} of ${a} cannot be deleted` : `${a} is deleted with its ${relations[0].name}`}', async () => {
  await using server = await ${start}
  ${create('first')}
  ${isKept ? `expect((await server.request('DELETE', '${target}')).status).toBe(409)` : `await server.request('DELETE', '${target}')`}
  expect((await server.request('GET', '/${path}/1')).status).toBe(${isKept ? 200 : 404})
})
`
  })
  .join('')}`
}

function schemaOf(field: Field): string {
  const nullable = field.nullable ? '.nullable()' : ''
  return `${field.schema}${nullable}${field.default === undefined ? '' : `.default(${JSON.stringify(field.default)})`}`
}

function filtersOf({ name, filters }: Field): string[] {
  if (filters === 'none') return []
  return filters === 'value' ? [name] : [`${name}_gte`, `${name}_lte`]
}

const inWords = ({ name, relation }: Field) => (relation?.name ?? name).replaceAll('_', ' ')

function listed(words: string[]): string {
  return words.join(', ').replace(/, ([^,]*)$/, ' and $1')
}

const lines = (...parts: (string | false)[]) => parts.filter((part) => part !== false).join('\n')
