import type { ListedRecord } from '@resource/client'
import { type CollectionFacts, contract, type Input, type WritableNoun } from '@resource/contract'
import { z } from 'zod'
import { type Field, fieldOf } from './field.ts'

export type Noun = WritableNoun

/** A record of any noun. */
export type Row = { id: number; version: number } & Record<string, unknown>

export type ColumnKind = 'text' | 'number' | 'badge' | 'date' | 'time'

interface Column {
  field: string
  label: string
  kind: ColumnKind
  isSortable: boolean
}

/** What can be done to a record with one press, beside editing and deleting it. */
export interface Action<R = Row> {
  label: string
  verb: string
  /** Of one record that it was done: `activated`. */
  done: string
  isFor: (row: R) => boolean
  /** The record as it will be, shown before the service answers; nothing when it will be gone. */
  apply: (row: R) => R | undefined
  send: (row: R, ifVersion: number) => Promise<unknown>
}

/** A deletion of many records at once, whose number must be typed. */
export interface Purge {
  label: string
  verb: string
  /** Of the records it deletes: `inactive`. */
  which: string
  filter: Record<string, unknown>
  send: () => Promise<{ removed: number }>
}

/** A noun as its page shows it. */
export interface Resource {
  noun: Noun
  title: string
  one: string
  many: string
  /** The field a record is called by. */
  nameField: string
  columns: Column[]
  filters: Field[]
  createFields: Field[]
  editFields: Field[]
  /** Every field of a listed record, as a file of them has it. */
  listed: string[]
  sorts: string[]
  actions: Action[]
  purge: Purge | undefined
}

type ListedField<N extends Noun> = keyof ListedRecord<N> & string
type FormField<N extends Noun> = Exclude<keyof Input<N, 'create'>, 'idempotency_key'> & string

/** Where a noun's page is not the usual one. Names are the contract's: one that the contract lacks does not compile. */
export interface Overrides<N extends Noun> {
  /** Labels other than the field's name. */
  labels?: { [F in ListedField<N> | FormField<N>]?: string }
  kinds?: { [F in ListedField<N>]?: ColumnKind }
  /** Columns after those of the fields a caller sends. */
  columns?: ListedField<N>[]
  actions?: Action<ListedRecord<N>>[]
  purge?: Purge
}

type Shape = Record<string, z.core.$ZodType>
type Procedures = Record<string, { input: z.ZodObject; output: z.ZodObject } | undefined>

/** The page of a collection: names, kinds, rules, choices and sorts come from the contract. */
export function describe<N extends Noun>(noun: N, facts: CollectionFacts, overrides: Overrides<N> = {}): Resource {
  const { tag, procedures } = contract[noun] as unknown as { tag: string; procedures: Procedures }
  const { one, hidden, filters } = facts
  const labels: Record<string, string | undefined> = overrides.labels ?? {}
  const kinds: Record<string, ColumnKind | undefined> = overrides.kinds ?? {}
  const shapeOf = (verb: string, side: 'input' | 'output' = 'input'): Shape => procedures[verb]?.[side].shape ?? {}
  const { idempotency_key: _, ...input } = shapeOf('create')
  const record = shapeOf('get', 'output')
  const sent = Object.keys(input).filter((name) => !hidden.includes(name))
  const label = (name: string) => labels[name] ?? labelOf(name)
  const fieldsOf = (shape: Shape, names: readonly string[]) =>
    names.map((name) => fieldOf(name, label(name), shape[name] as z.ZodType))
  const createFields = fieldsOf(input, Object.keys(input))
  const sorts = (shapeOf('list').sort as unknown as { unwrap: () => z.ZodEnum }).unwrap().options.map(String)
  return {
    noun,
    title: tag,
    one,
    many: noun,
    nameField: sent[0] as string,
    columns: [...sent, ...(overrides.columns ?? [])].map((field) => ({
      field,
      label: label(field),
      kind: kinds[field] ?? columnKind(record[field] as z.ZodType),
      isSortable: sorts.includes(`${field}_asc`),
    })),
    filters: fieldsOf(shapeOf('list'), filters),
    createFields,
    // A change may leave fields out, but a form shows them all: what a new record must have stays required.
    editFields: createFields.filter(({ name }) => name in shapeOf(editVerb(noun))),
    // The version belongs to the service's writes, not to the data.
    listed: Object.keys(record).filter((name) => name !== 'version'),
    sorts,
    actions: (overrides.actions ?? []) as unknown as Action[],
    purge: overrides.purge,
  }
}

function columnKind(schema: z.ZodType): ColumnKind {
  if (schema instanceof z.ZodNullable) return columnKind(schema.unwrap() as z.ZodType)
  const { type, format } = schema.def as z.core.$ZodTypeDef & { format?: string }
  if (type === 'number') return 'number'
  if (type === 'enum' || type === 'boolean') return 'badge'
  return format === 'date' ? 'date' : format === 'datetime' ? 'time' : 'text'
}

const ENDS: Record<string, string> = {
  lt: 'below',
  lte: 'at most',
  gt: 'above',
  gte: 'at least',
  in: 'is one of',
}

/** `Unit price` of `unit_price`, `Price below` of `price_lt`. */
function labelOf(name: string): string {
  const words = name.split('_')
  const end = ENDS[words.at(-1) as string]
  return [...words.slice(0, end === undefined ? undefined : -1), ...(end === undefined ? [] : [end])]
    .join(' ')
    .replace(/^./, (letter) => letter.toUpperCase())
}

/** How a noun's records are changed: field by field where the contract can, else whole. */
export function editVerb(noun: Noun): 'update' | 'replace' {
  return 'update' in contract[noun].procedures ? 'update' : 'replace'
}

/** What people call this record. */
export function nameOf(resource: Resource, row: Row): string {
  return String(row[resource.nameField])
}
