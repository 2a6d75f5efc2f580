import { expect, test } from 'vitest'
import { type Index, type Model, tableDeclarations } from './table-declarations.ts'

const scalar = (name: string, type: string, rest: object = {}) => ({
  name,
  kind: 'scalar' as const,
  type,
  isList: false,
  isRequired: true,
  isId: false,
  isUnique: false,
  ...rest,
})
const id = scalar('id', 'Int', { isId: true })
const model = (rest: Partial<Model> = {}): Model => ({
  name: 'ReadingList',
  dbName: 'reading_lists',
  fields: [id],
  primaryKey: null,
  uniqueFields: [],
  ...rest,
})

const tablesOf = (models: Model[], indexes: Index[] = []) => tableDeclarations({ models, indexes })

test('a model becomes a type and a declaration, without its relations', () => {
  const fields = [
    id,
    scalar('title', 'String', { isUnique: true, documentation: '@search The title.' }),
    scalar('note', 'String', { isRequired: false, isUnique: true }),
    scalar('at', 'DateTime'),
    scalar('version', 'Int'),
    scalar('books', 'Book', { kind: 'object', isList: true }),
  ]
  const index = (...names: string[]) => ({ model: 'ReadingList', fields: names.map((name) => ({ name })) })
  const indexes = [index('id'), index('at', 'id'), index('at', 'title'), { ...index('version'), model: 'Book' }]
  const source = tablesOf([model({ fields })], indexes)
  expect(source).toContain('  readingLists: RecordTable<ReadingList>\n')
  expect(declarations(source)).toEqual({
    readingLists: {
      name: 'reading_lists',
      key: ['id'],
      unique: ['title', 'note'],
      columns: { id: 'int', title: 'text', note: 'text?', at: 'date', version: 'int' },
      search: ['title'],
      references: {},
      indexed: ['id', 'at'],
    },
  })
})

test.each([
  ['with id and version is a table of records', [id, scalar('version', 'Int')], 'RecordTable<ReadingList>'],
  ['with id is a list', [id], 'ListTable<ReadingList>'],
  ['without id is a table', [scalar('key', 'String', { isId: true })], ': Table<ReadingList>'],
])('a table %s', (_, fields, type) => {
  expect(tablesOf([model({ fields })])).toContain(type)
})

test.each([
  [
    scalar('cover', 'Bytes'),
    /^ReadingList\.cover: the type Bytes is not supported\. Use one of Int, Int\?, .*DateTime\?\.$/,
  ],
  [scalar('share', 'BigInt', { isRequired: false }), /^ReadingList\.share: the type BigInt\? is not supported\./],
  [scalar('tags', 'String', { isList: true }), /^ReadingList\.tags: the type String\[\] is not supported\./],
  [scalar('kind', 'Color', { kind: 'enum' }), /^ReadingList\.kind: the type Color is not supported\./],
  [scalar('title', 'String', { dbName: 't' }), /^ReadingList\.title: @map is not supported\./],
])('a field of an unsupported type is rejected by name', (field, message) => {
  expect(() => tablesOf([model({ fields: [id, field] })])).toThrow(message)
})

const relation = (rest: object) => [
  id,
  scalar('owner_id', 'Int'),
  scalar('owner', 'ReadingList', {
    kind: 'object',
    relationFromFields: ['owner_id'],
    relationToFields: ['id'],
    ...rest,
  }),
]

test.each([
  [{}, 'Restrict'],
  [{ relationOnDelete: 'Cascade' }, 'Cascade'],
  [{ isRequired: false, relationOnDelete: 'Restrict' }, 'Restrict'],
])('a relation declares what its field references', (rest, onDelete) => {
  expect(declarations(tablesOf([model({ fields: relation(rest) })]))).toMatchObject({
    readingLists: { references: { owner_id: { table: 'readingLists', onDelete } } },
  })
})

test.each([
  [
    { isRequired: false },
    'ReadingList.owner: onDelete: SetNull, the default of an optional relation, is not supported. Set onDelete: Restrict or onDelete: Cascade.',
  ],
  [
    { relationOnDelete: 'NoAction' },
    'ReadingList.owner: onDelete: NoAction is not supported. Set onDelete: Restrict or onDelete: Cascade.',
  ],
  [{ relationToFields: ['title'] }, 'ReadingList.owner: a relation must have one field that references id.'],
  [
    { relationFromFields: ['a', 'b'], relationToFields: ['id', 'b'] },
    'ReadingList.owner: a relation must have one field that references id.',
  ],
])('an unsupported relation is rejected by name', (rest, message) => {
  expect(() => tablesOf([model({ fields: relation(rest) })])).toThrow(message)
})

test.each([scalar('note', 'String', { isRequired: false }), scalar('pages', 'Int')])(
  'a column of the search index that is not a required String is rejected',
  (field) => {
    expect(() => tablesOf([model({ fields: [id, { ...field, documentation: '@search' }] })])).toThrow(
      `ReadingList.${field.name}: a column with @search must be a required String.`,
    )
  },
)

test('a model without an id, or with a unique constraint on several fields, is rejected', () => {
  expect(() => tablesOf([model({ fields: [scalar('a', 'Int')] })])).toThrow('Model ReadingList has no @id or @@id.')
  expect(() => tablesOf([model({ uniqueFields: [['a', 'b']] })])).toThrow(
    'Model ReadingList: @@unique([a, b]) is not supported. Use @unique on one field.',
  )
})

/** Parses the declarations in a source; their values are JSON. */
function declarations(source: string): Record<string, unknown> {
  return Object.fromEntries(
    [...source.matchAll(/^ {2}(\w+): (\{.*\}),$/gm)].map(([, key, json]) => [key, JSON.parse(json as string)]),
  )
}
