import type { ListedRecord } from '@resource/client'
import { type CollectionFacts, contract, type Input, type WritableNoun } from '@resource/contract'
import { factsOf } from '@resource/contract/schema'
import { z } from 'zod'
import { type Field, fieldOf } from './field.ts'

export type Noun = WritableNoun

/** A record of any noun. */
export type Row = { id: number; version: number } & Record<string, unknown>

export type ColumnKind = 'id' | 'text' | 'number' | 'badge' | 'date' | 'time'

export interface Column {
  field: string
  label: string
  kind: ColumnKind
  /** The fewest decimals of a number. */
  decimals: number
  isSortable: boolean
}

/** An action on one or many records. Its methods may take the records of one noun. */
export interface BulkAction<R = Row> {
  label: string
  /** Past participle for notices: `activated`. */
  done: string
  isFor(row: R): boolean
  /** The fields that the action sets, if it can run on many records. */
  changes?: Record<string, unknown>
  /** Instead of `changes`: the fields that it sets depending on the record. */
  changesOf?(row: R): Record<string, unknown>
  /** What it sets, for a preview: `price 30`. */
  summary?: string
  /** The record after the action, shown before the service responds; undefined if the action deletes it. */
  apply(row: R): R | undefined
}

/** A one-click action on a record, in addition to editing and deleting. */
export interface Action<R = Row> extends BulkAction<R> {
  verb: string
  send(row: R, ifVersion: number): Promise<unknown>
}

/** The description of a noun's page. */
export interface Resource {
  noun: Noun
  title: string
  one: string
  many: string
  /** The field that names a record. */
  nameField: string
  /** The columns that a table shows unless others are selected. */
  columns: Column[]
  /** All fields of a record. */
  recordColumns: Column[]
  /** The search over several fields, one of the filters. */
  search: Field | undefined
  filters: Field[]
  /** The fields that records can be summarized by. */
  groups: Column[]
  /** The number fields whose range and mean summaries have. */
  measures: Column[]
  createFields: Field[]
  editFields: Field[]
  /** The fields that identify a record in a change of many records. */
  keys: Field[]
  /** The fields of an exported file. */
  listed: string[]
  sorts: string[]
  actions: Action[]
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
}

type Shape = Record<string, z.core.$ZodType>
type Procedures = Record<string, { input: z.ZodObject; output: z.ZodObject } | undefined>

/** Describes the page of a collection. Names, kinds, rules, choices and sorts come from the contract. */
export function describe<N extends Noun>(noun: N, facts: CollectionFacts, overrides: Overrides<N> = {}): Resource {
  const { tag, procedures }: { tag: string; procedures: Procedures } = contract[noun]
  const { one, hidden, filters, groups, measures, keys } = facts
  const labels: Record<string, string | undefined> = overrides.labels ?? {}
  const kinds: Record<string, ColumnKind | undefined> = overrides.kinds ?? {}
  const shapeOf = (verb: string, side: 'input' | 'output' = 'input'): Shape => procedures[verb]?.[side].shape ?? {}
  const { idempotency_key: _, ...input } = shapeOf('create')
  const record = shapeOf('get', 'output')
  const list = shapeOf('list')
  const search = list.q === undefined ? undefined : searchField(list.q as z.ZodType)
  const sorts = factsOf(list.sort as z.ZodType).choices?.map(String) ?? []
  const sent = Object.keys(input).filter((name) => !hidden.includes(name))
  const label = (name: string): string => labels[name] ?? filterLabel(name, record, label) ?? labelOf(name)
  const fieldsOf = (shape: Shape, names: readonly string[]) =>
    names.map((name) => fieldOf(name, label(name), shape[name] as z.ZodType))
  const columnsOf = (names: readonly string[]) =>
    names.map((field): Column => {
      const schema = record[field] as z.ZodType
      return {
        field,
        label: label(field),
        kind: kinds[field] ?? (field === 'id' ? 'id' : columnKind(schema)),
        decimals: factsOf(schema).type === 'integer' ? 0 : 2,
        isSortable: sorts.includes(`${field}_asc`),
      }
    })
  const createFields = fieldsOf(input, Object.keys(input))
  return {
    noun,
    title: tag,
    one,
    many: noun,
    nameField: sent[0] as string,
    columns: columnsOf(['id', ...sent, ...(overrides.columns ?? [])]),
    recordColumns: columnsOf(Object.keys(record)),
    search,
    filters: [...(search === undefined ? [] : [search]), ...fieldsOf(list, filters)],
    groups: columnsOf(groups),
    measures: columnsOf(measures),
    createFields,
    // An update may omit fields, but the form shows all of them, so required fields stay required.
    editFields: createFields.filter(({ name }) => name in shapeOf(editVerb(noun))),
    keys: [...fieldsOf(record, ['id']), ...fieldsOf(input, keys)],
    // The version is for concurrency control and not part of the data.
    listed: Object.keys(record).filter((name) => name !== 'version'),
    sorts,
    actions: (overrides.actions ?? []) as Action[],
  }
}

/** The field of the search, which also takes an id. */
function searchField(words: z.ZodType): Field {
  const schema = z.unknown().superRefine((value, context) => {
    const message = isId(value) ? undefined : words.safeParse(value).error?.issues[0]?.message
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
  return { ...fieldOf('q', 'Search', words), schema }
}

/** Whether a search may be for the id of a record. */
export function isId(value: unknown): boolean {
  return /^[1-9]\d{0,9}$/.test(String(value)) && Number(value) < 2 ** 31
}

function columnKind(schema: z.ZodType): ColumnKind {
  const { type, format } = factsOf(schema)
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'enum' || type === 'boolean') return 'badge'
  return format === 'date' ? 'date' : format === 'datetime' ? 'time' : 'text'
}

const BOUNDS: Record<string, string> = {
  lt: 'below',
  lte: 'at most',
  gt: 'above',
  gte: 'at least',
}
const TIME_BOUNDS: Record<string, string> = { lt: 'before', lte: 'until', gt: 'after', gte: 'from' }
const MATCHES: Record<string, string> = { in: 'is one of', contains: 'contains' }

/** `Price below` of `price_lt`, `Published from` of `published_date_gte`; undefined for the name of a field. */
function filterLabel(name: string, record: Shape, label: (field: string) => string): string | undefined {
  const cut = name.lastIndexOf('_')
  const [field, by] = [name.slice(0, cut), name.slice(cut + 1)]
  if (name in record || !(field in record)) return undefined
  const isTime = ['date', 'time'].includes(columnKind(record[field] as z.ZodType))
  return `${label(field)} ${(isTime ? TIME_BOUNDS : BOUNDS)[by] ?? MATCHES[by] ?? by}`
}

/** `Unit price` of `unit_price`, `Created` of `created_at`. */
function labelOf(name: string): string {
  if (name === 'id') return 'ID'
  return name
    .replace(/_at$/, '')
    .replaceAll('_', ' ')
    .replace(/^./, (letter) => letter.toUpperCase())
}

/** The procedure that edits a record: a partial update if the contract has one, otherwise a replacement. */
export function editVerb(noun: Noun): 'update' | 'replace' {
  return 'update' in contract[noun].procedures ? 'update' : 'replace'
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/

/** The display name of a record. A name from right to left is isolated, so that it does not reorder the text around it. */
export function nameOf(resource: Resource, row: Record<string, unknown>): string {
  const name = String(row[resource.nameField])
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name
}
