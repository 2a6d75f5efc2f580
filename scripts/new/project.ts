import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CollectionFacts, contract } from '../../packages/contract/src/index.ts'
import { upper } from '../../packages/contract/src/words.ts'
import { root } from '../run-command.mjs'
import { nounsIn } from './declaration.ts'
import { type Field, UsageError } from './fields.ts'
import type { Names } from './names.ts'

export const LIST = 'packages/contract/src/writable.ts'
export const MODELS = 'prisma/schema.prisma'
export const OPERATIONS = 'apps/server/src/operations.ts'
const DOCUMENT = 'packages/contract/openapi.snapshot.json'
/** The files of all resources. */
export const SHARED = [LIST, MODELS, OPERATIONS, DOCUMENT, 'packages/contract/src/hash.ts']

// Paths of the service that are not in the OpenAPI document.
const PATHS = ['api', 'assets', 'console', 'docs', 'healthz', 'metrics', 'openapi', 'readyz', 'redoc', 'trpc']
// Prisma's scalar types, and the other types in generated/tables.ts.
const TYPES = ['Boolean', 'Decimal', 'Float', 'Int', 'Json', 'ListTable', 'RecordTable', 'String', 'Table']

export const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** The files that belong to a resource only: its declaration, rules and tests, and its migrations, if it has any yet. */
export function filesOf({
  noun,
  path,
  table,
}: Names): [declaration: string, rules: string, test: string, ...migrations: string[]] {
  const migrations = migrationsNamed(`{,compatible_}{add_${table},add_*_to_${table},${table}_*_idx}`)
  return [
    `packages/contract/src/${noun}.ts`,
    `apps/server/src/${path}/rules.ts`,
    `apps/server/test/${path}.test.ts`,
    ...migrations,
  ]
}

/** The files of the migrations on all engines whose name after the number matches a pattern. */
export const migrationsNamed = (pattern: string) =>
  globSync(`prisma/migrations/*/[0-9]*[0-9]_${pattern}/migration.sql`, { cwd: root }).sort()

/** @throws UsageError when a name is already in use */
export function rejectTaken(names: Names): void {
  const { path, table, noun, model, label } = names
  const reject = (reason: string) => {
    throw new UsageError(`${label}: ${reason}. Choose another name.`)
  }
  const document: { paths: object; components: { schemas: object } } = JSON.parse(read(DOCUMENT))
  const taken = [
    ...Object.keys(document.paths).map((route) => route.replace(/^\/(api\/)?/, '').split('/')[0]),
    ...PATHS,
  ]
  if (nounsIn(read(LIST)).includes(noun)) reject(`the resource ${noun} already exists`)
  if (taken.includes(path)) reject(`the path /${path} is in use`)
  if (read(MODELS).includes(`@@map("${table}")`)) reject(`the table ${table} already exists`)
  if (new RegExp(`^model ${model} `, 'm').test(read(MODELS))) reject(`the model ${model} already exists`)
  if (TYPES.includes(model)) reject(`${model} is a reserved model name`)
  const schema = [model, `Versioned${model}`].find((name) => name in document.components.schemas)
  if (schema !== undefined) reject(`the schema ${schema} already exists in the OpenAPI document`)
  const file = filesOf(names).find((file) => existsSync(join(root, file)))
  if (file !== undefined) reject(`the file ${file} already exists`)
}

/** The collections of the contract, by noun. */
const collections = new Map<string, CollectionFacts>(
  Object.entries(contract).flatMap(([noun, resource]) =>
    'collection' in resource ? [[noun, resource.collection]] : [],
  ),
)

/** The models of the referenced collections. @throws UsageError for an unknown collection */
export function modelsReferredTo(fields: Field[]): Map<string, string> {
  return new Map(
    fields.flatMap(({ relation }) => {
      if (relation === undefined) return []
      const { name, collection: noun } = relation
      const collection = collections.get(noun)
      if (collection !== undefined) return [[noun, upper(collection.one)]]
      throw new UsageError(
        `${name}:ref:${noun}: unknown collection ${noun}; must be one of ${[...collections.keys()].join(', ')}.`,
      )
    }),
  )
}
