import type { ListedRecord } from '@resource/client'
import { type CollectionFacts, contract, type Input, type WrittenNoun } from '@resource/contract'
import { z } from 'zod'
import { type Field, fieldOf } from './field.ts'

export type Noun = WrittenNoun

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
type FilterField<N extends Noun> = Exclude<keyof Input<N, 'list'>, 'page' | 'limit' | 'sort' | 'after' | 'count'> &
  string

/** What a noun's own file says. Names are the contract's: one that the contract lacks does not compile. */
export interface Description<N extends Noun> {
  noun: N
  title: string
  one: string
  nameField: ListedField<N>
  /** In their order in the table. */
  columns: { [F in ListedField<N>]?: [label: string, kind?: ColumnKind] }
  filters: Record<FilterField<N>, string>
  /** Labels of the form's fields, in their order. */
  fields: Record<FormField<N>, string>
  actions?: Action<ListedRecord<N>>[]
  purge?: Purge
}

type Procedures = Record<string, { input: z.ZodObject; output: z.ZodType } | undefined>

/** The noun's page from its description; kinds, rules, choices and sorts come from the contract. */
export function describe<N extends Noun>(description: Description<N>): Resource {
  const procedures = contract[description.noun].procedures as unknown as Procedures
  const shapeOf = (verb: string) => procedures[verb]?.input.shape ?? {}
  const list = shapeOf('list')
  const changes = shapeOf(editVerb(description.noun))
  const sorts = (list.sort as unknown as { unwrap: () => z.ZodEnum }).unwrap().options.map(String)
  return {
    noun: description.noun,
    title: description.title,
    one: description.one,
    many: description.noun,
    nameField: description.nameField,
    columns: Object.entries<[string, ColumnKind?] | undefined>(description.columns).map(([field, column]) => ({
      field,
      label: column?.[0] ?? field,
      kind: column?.[1] ?? 'text',
      isSortable: sorts.includes(`${field}_asc`),
    })),
    filters: fields(description.filters, list),
    createFields: fields(description.fields, shapeOf('create')),
    // A change may leave fields out, but a form shows them all: what a new record must have stays required.
    editFields: fields(description.fields, shapeOf('create')).filter(({ name }) => name in changes),
    listed: listedFields(description.noun, procedures),
    sorts,
    actions: (description.actions ?? []) as unknown as Action[],
    purge: description.purge,
  }
}

/** The page of a collection that has no description: every field by its name. */
export function describeCollection(noun: Noun, { one, hidden, filters }: CollectionFacts): Resource {
  const { tag, procedures } = contract[noun] as unknown as { tag: string; procedures: Procedures }
  const { idempotency_key: _, ...input } = procedures.create?.input.shape ?? {}
  const names = Object.keys(input)
  const shown = names.filter((name) => !hidden.includes(name))
  const shape = (procedures.get?.output as z.ZodObject | undefined)?.shape ?? {}
  const label = (name: string) => [name, labelOf(name)]
  return describe({
    noun,
    title: tag,
    one,
    nameField: shown[0],
    columns: Object.fromEntries(shown.map((name) => [name, [labelOf(name), columnKind(shape[name] as z.ZodType)]])),
    filters: Object.fromEntries(filters.map(label)),
    fields: Object.fromEntries(names.map(label)),
  } as never)
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

// The version belongs to the service's writes, not to the data.
function listedFields(noun: Noun, procedures: Procedures): string[] {
  const page = procedures.list?.output as z.ZodObject<Record<string, z.ZodArray<z.ZodObject>>>
  return Object.keys(page.shape[noun]?.element.shape ?? {}).filter((name) => name !== 'version')
}

function fields(labels: Record<string, string>, shape: Readonly<Record<string, z.core.$ZodType>>): Field[] {
  return Object.entries(labels)
    .filter(([name]) => name in shape)
    .map(([name, label]) => fieldOf(name, label, shape[name] as z.ZodType))
}
