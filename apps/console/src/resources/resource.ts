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

/** A one-click action on a record, in addition to editing and deleting. */
export interface Action<R = Row> {
  label: string
  verb: string
  /** Past participle for notices: `activated`. */
  done: string
  isFor: (row: R) => boolean
  /** The fields that the action sets, if it can run on many records. */
  changes?: Record<string, unknown>
  /** The record after the action, shown before the service responds; undefined if the action deletes it. */
  apply: (row: R) => R | undefined
  send: (row: R, ifVersion: number) => Promise<unknown>
}

/** A bulk deletion that the user confirms by typing the number of records. */
export interface Purge {
  label: string
  verb: string
  /** Adjective for the records it deletes: `inactive`. */
  which: string
  filter: Record<string, unknown>
  send: () => Promise<{ removed: number }>
}

/** The description of a noun's page. */
export interface Resource {
  noun: Noun
  title: string
  one: string
  many: string
  /** The field that names a record. */
  nameField: string
  columns: Column[]
  filters: Field[]
  createFields: Field[]
  editFields: Field[]
  /** The fields that identify a record in a change of many records. */
  keys: Field[]
  /** The fields of an exported file. */
  listed: string[]
  sorts: string[]
  actions: Action[]
  purge: Purge | undefined
}

type ListedField<N extends Noun> = keyof ListedRecord<N> & string
type FormField<N extends Noun> = Exclude<keyof Input<N, 'create'>, 'idempotency_key'> & string

/** Deviations of a noun's page from the default. A name that is not in the contract causes a compile error. */
export interface Overrides<N extends Noun> {
  /** Labels that differ from the field's name. */
  labels?: { [F in ListedField<N> | FormField<N>]?: string }
  kinds?: { [F in ListedField<N>]?: ColumnKind }
  /** Columns after those of the input fields. */
  columns?: ListedField<N>[]
  actions?: Action<ListedRecord<N>>[]
  purge?: Purge
}

type Shape = Record<string, z.core.$ZodType>
type Procedures = Record<string, { input: z.ZodObject; output: z.ZodObject } | undefined>

/** Describes the page of a collection. Names, kinds, rules, choices and sorts come from the contract. */
export function describe<N extends Noun>(noun: N, facts: CollectionFacts, overrides: Overrides<N> = {}): Resource {
  const { tag, procedures } = contract[noun] as unknown as { tag: string; procedures: Procedures }
  const { one, hidden, filters, keys } = facts
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
    // An update may omit fields, but the form shows all of them, so required fields stay required.
    editFields: createFields.filter(({ name }) => name in shapeOf(editVerb(noun))),
    keys: [...fieldsOf(record, ['id']), ...fieldsOf(input, keys)],
    // The version is for concurrency control and not part of the data.
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

const SUFFIXES: Record<string, string> = {
  lt: 'below',
  lte: 'at most',
  gt: 'above',
  gte: 'at least',
  in: 'is one of',
}

/** `Unit price` of `unit_price`, `Price below` of `price_lt`. */
function labelOf(name: string): string {
  const words = name.split('_')
  const end = SUFFIXES[words.at(-1) as string]
  return [...words.slice(0, end === undefined ? undefined : -1), ...(end === undefined ? [] : [end])]
    .join(' ')
    .replace(/^./, (letter) => letter.toUpperCase())
}

/** The procedure that edits a record: a partial update if the contract has one, otherwise a replacement. */
export function editVerb(noun: Noun): 'update' | 'replace' {
  return 'update' in contract[noun].procedures ? 'update' : 'replace'
}

/** The display name of a record. */
export function nameOf(resource: Resource, row: Row): string {
  return String(row[resource.nameField])
}
