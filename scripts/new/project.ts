import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../run-command.mjs'
import { nounsIn } from './declaration.ts'
import { type Field, UsageError } from './fields.ts'
import { modelsIn, relationsOf } from './model.ts'
import { camelCase, type Names } from './names.ts'
import type { Target } from './test-source.ts'

export const LIST = 'packages/contract/src/writable.ts'
export const MODELS = 'prisma/schema.prisma'
export const DOCUMENT = 'packages/contract/openapi.snapshot.json'
export const HASH = 'packages/contract/src/hash.ts'

// Paths of the service that are not in the OpenAPI document.
const PATHS = ['api', 'assets', 'console', 'docs', 'healthz', 'metrics', 'openapi', 'readyz', 'redoc', 'trpc']
// Prisma's scalar types, and the other types in generated/tables.ts.
const TYPES = ['Boolean', 'Decimal', 'Float', 'Int', 'Json', 'ListTable', 'RecordTable', 'String', 'Table']

export const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** The files that belong to a resource only. */
export function filesOf({ noun, path, table }: Names) {
  return {
    declaration: `packages/contract/src/${noun}.ts`,
    test: `apps/server/test/${path}.test.ts`,
    migrations: globSync(`prisma/migrations/*/[0-9]*[0-9]_add_${table}/migration.sql`, { cwd: root }).sort(),
  }
}

/** @throws UsageError when a name is already in use */
export function rejectTaken(names: Names): void {
  const { path, table, noun, model, label } = names
  const reject = (reason: string) => {
    throw new UsageError(`${label}: ${reason}. Choose another name.`)
  }
  const document: Document = JSON.parse(read(DOCUMENT))
  const taken = [
    ...Object.keys(document.paths).map((route) => route.replace(/^\/(api\/)?/, '').split('/')[0]),
    ...PATHS,
  ]
  if (nounsIn(read(LIST)).includes(noun)) reject(`the resource ${noun} already exists`)
  if (taken.includes(path)) reject(`the path /${path} is in use`)
  if (modelsIn(read(MODELS)).has(table)) reject(`the table ${table} already exists`)
  if (new RegExp(`^model ${model} `, 'm').test(read(MODELS))) reject(`the model ${model} already exists`)
  if (TYPES.includes(model)) reject(`${model} is a reserved model name`)
  const schema = [model, `Versioned${model}`].find((name) => name in document.components.schemas)
  if (schema !== undefined) reject(`the schema ${schema} already exists in the OpenAPI document`)
  const { declaration, test, migrations } = filesOf(names)
  const file = [declaration, test, ...migrations].find((file) => existsSync(join(root, file)))
  if (file !== undefined) reject(`the file ${file} already exists`)
}

/** The models of the referenced collections. @throws UsageError for an unknown collection */
export function modelsReferredTo(fields: Field[]): Map<string, string> {
  const collections = globSync('packages/contract/src/*.ts', { cwd: root }).flatMap((file) =>
    [...read(file).matchAll(/\bcollection\(\{\s*noun: '(\w+)'/g)].map(([, noun = '']) => noun),
  )
  const models = modelsIn(read(MODELS))
  return new Map(
    fields.flatMap(({ relation }) => {
      if (relation === undefined) return []
      const { name, collection } = relation
      const model = models.get(collection.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
      if (!collections.includes(collection) || model === undefined) {
        throw new UsageError(
          `${name}:ref:${collection}: unknown collection ${collection}; must be one of ${collections.join(', ')}.`,
        )
      }
      return [[collection, model]]
    }),
  )
}

interface Property {
  $ref?: string
  examples?: unknown[]
  enum?: unknown[]
  minimum?: number
  maximum?: number
  type?: string
  format?: string
}

interface Schema {
  properties: Record<string, Property>
  required?: string[]
}

interface Document {
  paths: Record<string, Record<string, { operationId?: string }>>
  components: { schemas: Record<string, Schema & Property> }
}

/** The requests that create a record of each collection, after those for the records it refers to. */
export function targetsOf(models: Map<string, string>): Target[] {
  const document: Document = JSON.parse(read(DOCUMENT))
  const schemaPrisma = read(MODELS)
  const targets: Target[] = []
  const add = (collection: string, model: string) => {
    if (targets.some((target) => target.collection === collection)) return
    const { properties = {}, required = [] } = document.components.schemas[`Create${model}Body`] ?? {}
    const relations = relationsOf(schemaPrisma, model)
    const others = required.flatMap((name) => relations.get(name) ?? [])
    for (const other of others) add(nounOf(schemaPrisma, other), other)
    const values = required.map((name) => [
      name,
      relations.has(name) ? 1 : exampleOf(resolved(document, properties[name])),
    ])
    targets.push({
      collection,
      create: pathOf(document, `create${model}`),
      json: Object.fromEntries(values),
      path: pathOf(document, `delete${model}`).replace(/\{\w+\}/, '1'),
      refersTo: others.map((other) => nounOf(schemaPrisma, other)),
    })
  }
  for (const [collection, model] of models) add(collection, model)
  return targets
}

/** The schema of a property. The choices of a field are a schema of their own, to which its property refers. */
function resolved(document: Document, property: Property = {}): Property {
  const name = property.$ref?.split('/').at(-1)
  return name === undefined ? property : (document.components.schemas[name] ?? {})
}

/** A valid value of a property. */
export function exampleOf(property: Property): unknown {
  const { examples, enum: choices, minimum = 1, maximum = Infinity, type, format } = property
  if (examples !== undefined) return examples[0]
  if (choices !== undefined) return choices[0]
  if (type === 'boolean') return false
  if (type === 'integer' || type === 'number') return Math.min(Math.max(minimum, 1), maximum)
  return { date: '2026-01-31', 'date-time': '2026-01-31T08:30:00.000Z' }[format ?? ''] ?? 'First'
}

function pathOf({ paths }: Document, operationId: string): string {
  const [path = ''] =
    Object.entries(paths).find(([, operations]) =>
      Object.values(operations).some((operation) => operation.operationId === operationId),
    ) ?? []
  return path
}

function nounOf(schemaPrisma: string, model: string): string {
  const [table = ''] = [...modelsIn(schemaPrisma)].find(([, name]) => name === model) ?? []
  return camelCase(table)
}
