import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Contract, contract } from '@resource/contract'
import { sampleFieldsOf } from '@resource/contract/samples'
import { createLocalClient } from '@resource/server/local'
import { z } from 'zod'

/** The keywords of JSON Schema that samples support. */
export interface Schema {
  type?: string | string[]
  format?: string
  examples?: unknown[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[] | undefined
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  'x-references'?: string
}

type Fields = Record<string, unknown>

/**
 * The id of the record that references use, so that examples can delete record 1. Only sample 1, which examples send, refers
 * to record 1: a new reference must differ from the stored one.
 */
export const REFERENCED_ID = 2

export type Collection = {
  [N in keyof Contract]: Contract[N] extends { collection: object } ? N : never
}[keyof Contract]

/** The nouns of the API rules; tests list their operations explicitly. */
export const SPECIFIED: readonly string[] = [
  ...['users', 'books', 'items', 'keys', 'audit', 'changes', 'previews', 'proposals', 'reversals', 'sessions'],
]

/** The input of a preview that writers may have. */
export const PREVIEW = { operation: 'items.update', input: { id: 1, price: 30 } }

/** A group without requests. */
export const GROUP = '0198a1c4-7d52-7b0e-9c3f-5a2f8e6b1d07'

/** The input of a proposal. */
export const PROPOSAL = { ...PREVIEW, reason: 'The supplier raised it.' }

/** The status that only those with the role `writer` may give. */
export const DECISION = { status: 'applied' }

/** The input of a reversal of an unknown request. */
export const REVERSAL = { request_id: '01989f2e-6a00-7c3e-8a51-3f0f4d1c9b20' }

const declared = Object.entries(contract).flatMap(([noun, resource]) =>
  'collection' in resource ? [noun as Collection] : [],
)

/** Why the service refuses the generated records of a collection. `samples.test.ts` reports them. */
export const refusals: Record<string, string> = await findRefusals()

/** The nouns whose resource is a collection, without those that a rule of their own keeps from tests of all resources. */
export const collections = declared.filter((noun) => refusals[noun] === undefined)

/** The nouns of the collections that others reference. */
export const referenced = [
  ...new Set(collections.flatMap((noun) => Object.values(contract[noun].collection.references))),
] as Collection[]

/** The path of a collection: `/order-lines` for `orderLines`. */
export function pathOf(noun: Collection): string {
  return contract[noun].procedures.list.meta.openapi.path.replace(/\/$/, '')
}

/** The collection with this noun, or at this path with or without `/api`: `orderLines` for `/order-lines/7`. */
export function collectionAt(target: string): Collection | undefined {
  const withoutApi = (path: string) => `${path.replace(/^\/api/, '')}/`
  return declared.find((noun) => noun === target || withoutApi(target).startsWith(withoutApi(pathOf(noun))))
}

/** The id of the next record of a noun after `seed`. */
export function nextId(noun: string): number {
  return (referenced as string[]).includes(noun) ? 3 : 2
}

/**
 * A valid value: example `n` of the schema, or else a value within its type, choices and bounds. An object gets its
 * required fields, or its first field if none is required. Text with a pattern needs two examples.
 */
export function sampleOf(schema: Schema, n: number): unknown {
  const { type, format, examples = [], enum: choices, items, minimum = 0, maximum = 1e6 } = schema
  if (schema['x-references'] !== undefined) return n === 1 ? 1 : REFERENCED_ID
  if (schema.const !== undefined) return schema.const
  if (n < examples.length) return examples[n]
  if (choices) return choices[n % choices.length]
  const [variant, other] = schema.anyOf ?? (Array.isArray(type) ? type.map((type) => ({ ...schema, type })) : [])
  if (variant) return other?.type === 'null' && n % 3 === 0 ? null : sampleOf(variant, n)
  if (type === 'array') return [sampleOf(items as Schema, n)]
  if (type === 'object') return sampleFields(schema, n)
  if (type === 'boolean') return n % 2 === 1
  if (type === 'integer' || type === 'number') {
    // Samples 1 to 3 differ in a narrow range too.
    const step = type === 'integer' ? 1 : Math.min(1, (maximum - minimum) / 3)
    return Math.min(maximum, minimum + ((n * step) % (maximum - minimum + step)))
  }
  if (format === 'email') return `sample${n}@example.com`
  const day = new Date(Date.UTC(2026, 0, 1 + (n % 365))).toISOString()
  if (format === 'date-time') return day
  if (format === 'date') return day.slice(0, 10)
  return `${n}-sample`.padEnd(schema.minLength ?? 0, '.').slice(0, schema.maxLength)
}

function sampleFields({ properties = {}, required = [] }: Schema, n: number): Fields {
  const names = Object.keys(properties)
  const needed = names.filter((name) => required.includes(name))
  const sampled = needed.length > 0 ? needed : names.slice(0, 1)
  // A row names its record.
  const id = 'id' in properties && { id: 1 }
  return { ...Object.fromEntries(sampled.map((name) => [name, sampleOf(properties[name] as Schema, n)])), ...id }
}

/** The change of one field with which `updateWhere` changes record 1; undefined if it can set none. */
export function changesOf(noun: Collection): Fields | undefined {
  const { updateWhere } = contract[noun].procedures as { updateWhere?: object }
  if (updateWhere === undefined) return undefined
  const { references } = contract[noun].collection
  const { properties = {} } = inputSchemaOf(noun, 'updateWhere').properties?.changes?.properties?.set ?? {}
  const names = Object.keys(properties)
  const field = names.find((name) => !(name in references)) ?? (names[0] as string)
  // A sample may omit a field that has a default.
  const generated = sampleFields({ properties: { [field]: properties[field] as Schema }, required: [field] }, 3)
  return { [field]: recordOf(noun, field in references ? 1 : 3)[field] ?? generated[field] }
}

/** An input with which a procedure succeeds on the record `id`. */
export function inputOf(noun: keyof Contract, verb: string, id: number): Fields {
  if (noun === 'previews') return PREVIEW
  if (noun === 'changes') return { resources: ['items'] }
  if (noun === 'reversals') return verb === 'create' ? REVERSAL : { group: GROUP }
  if (noun === 'proposals' && verb === 'create') return PROPOSAL
  if (noun === 'proposals' && verb === 'setStatus') return { id, ...DECISION }
  if (verb === 'updateWhere') return { id_in: [id], changes: { set: changesOf(noun as Collection) } }
  if (verb === 'deleteWhere') return { id_in: [id] }
  const { properties = {}, required } = inputSchemaOf(noun, verb)
  const { id: known, if_version: _, idempotency_key: __, ...fields } = properties
  // Records with the first choice are not referenced, so they can be deleted.
  const n = verb.startsWith('delete') ? 0 : 1
  return { ...(known && { id }), ...withSample(noun, sampleFields({ properties: fields, required }, n)) }
}

/** A generated input, or its rows, with the values of the samples for seeds, which satisfy rules that the schema does not express. */
export function withSample<Input>(noun: string, input: Input): Input {
  const sample = sampleOfSeeds(noun, 1)
  return JSON.parse(JSON.stringify(input), (_, value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return { ...value, ...Object.fromEntries(Object.entries(sample).filter(([name]) => name in value)) }
  })
}

/** A record that `create` accepts: with every visible field, of which the samples for seeds name some. */
export function recordOf(noun: Collection, n: number): Fields {
  const { hidden } = contract[noun].collection
  const { properties = {} } = inputSchemaOf(noun, 'create')
  const { idempotency_key: _, ...fields } = properties
  const required = Object.keys(fields).filter((name) => !hidden.includes(name))
  return { ...sampleFields({ properties: fields, required }, n), ...sampleOfSeeds(noun, n) }
}

function sampleOfSeeds(noun: string, n: number): Fields {
  if (SPECIFIED.includes(noun)) return {}
  return sampleFieldsOf(noun, n, Object.fromEntries(declared.map((noun) => [noun, [n === 1 ? 1 : REFERENCED_ID]])))
}

/** Creates generated records of the collections that have no tests of their own here. */
async function findRefusals(): Promise<Record<string, string>> {
  const refused: Record<string, string> = {}
  if (declared.every((noun) => SPECIFIED.includes(noun))) return refused
  await using folder = await mkdtempDisposable(join(tmpdir(), 'samples-'))
  await using client = await createLocalClient({ databaseUrl: `file:${join(folder.path, 'samples.db')}` })
  for (const noun of declared) {
    const { create } = client[noun] as unknown as { create: { mutate: (input: object) => Promise<object> } }
    try {
      for (const n of [2, 3]) await create.mutate(recordOf(noun, n))
    } catch (error) {
      refused[noun] = (error as Error).message
    }
  }
  return refused
}

function inputSchemaOf(noun: keyof Contract, verb: string): Schema {
  const procedures = contract[noun].procedures as Record<string, { input: z.ZodType }>
  const { $defs, ...schema } = z.toJSONSchema((procedures[verb] as { input: z.ZodType }).input, { io: 'input' })
  return inlined(schema, $defs)
}

/** The schema with each `$ref` replaced by its definition. */
export function inlined(schema: object, definitions: Record<string, object> = {}): Schema {
  return JSON.parse(JSON.stringify(schema), (_, value) =>
    value?.$ref === undefined ? value : inlined(definitions[value.$ref.split('/').at(-1)] as object, definitions),
  )
}
