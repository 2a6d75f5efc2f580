import type { ListedRecord } from '@resource/client'
import { contract, type Input, type WritableNoun } from '@resource/contract'
import type { Field } from './field.ts'

export type Noun = WritableNoun

/** A record of any noun. */
export type Row = { id: number; version: number } & Record<string, unknown>

export type ColumnKind = 'id' | 'text' | 'number' | 'choice' | 'date' | 'time'

export interface Column {
  field: string
  label: string
  kind: ColumnKind
  /** The fewest decimals of a number. */
  decimals: number
  isSortable: boolean
  /** The noun of the records that its values refer to. */
  refersTo?: Noun | undefined
}

/** An action on one or many records. Its methods may take the records of one noun. */
export interface BulkAction<R = Row> {
  label: string
  /** Past participle for notices: `activated`. */
  done: string
  isFor(row: R): boolean
  /** The fields that the action sets, if it can run on many records. */
  changes?: Record<string, unknown>
  /** Instead of `changes`: what it does to numbers, as `{ multiply: { price: 1.1 } }`. */
  amounts?: { [How in 'add' | 'multiply']?: Record<string, number> }
  /** The record after the action, shown before the service responds; undefined if the action deletes it. */
  apply(row: R): R | undefined
}

/** Whether an action changes records, as opposed to deleting them. */
export function isChange({ changes, amounts }: BulkAction): boolean {
  return (changes ?? amounts) !== undefined
}

/** A one-click action on a record, in addition to editing and deleting. */
export interface Action<R = Row> extends BulkAction<R> {
  verb: string
  /** @returns the answer */
  send(row: R, ifVersion: number): Promise<object>
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
  /** The nouns that its fields refer to, by field. */
  references: Readonly<Record<string, Noun>>
  actions: Action[]
}

type ListedField<N extends Noun> = keyof ListedRecord<N> & string
type FormField<N extends Noun> = Exclude<keyof Input<N, 'create'>, 'idempotency_key'> & string

/** Deviations of a noun's page from the default. A name that is not in the contract causes a compile error. */
export interface Overrides<N extends Noun> {
  /** Labels that differ from the field's name. */
  labels?: { [F in ListedField<N> | FormField<N>]?: string }
  kinds?: { [F in ListedField<N>]?: ColumnKind }
  actions?: Action<ListedRecord<N>>[]
}

/** Whether a search may be for the id of a record. */
export function isId(value: unknown): boolean {
  return /^[1-9]\d{0,9}$/.test(String(value)) && Number(value) < 2 ** 31
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
