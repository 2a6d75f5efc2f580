import type { ErrorForm, Procedures, RestMeta } from '@resource/openapi/contract'
import type { z } from 'zod'
import type { FilterName } from './filters.ts'
import type { Fields, PublicRecord, Row } from './records.ts'
import type { Role } from './roles.ts'
import type { Filterable, Verb } from './standard-procedures.ts'

/** Overrides for the REST binding of a standard procedure; undefined removes a property. */
export type BindingOverrides = { [K in keyof RestMeta]?: RestMeta[K] | undefined }

export interface Declaration<
  N extends string,
  F extends Fields,
  T extends boolean,
  L extends FilterName<Filterable<F, T>>,
  S extends string,
  O extends Verb,
  R extends Fields,
  P extends Procedures,
  Q extends keyof F & string,
  G extends keyof F & string,
  M extends keyof F & string,
  K extends keyof F & string,
> {
  noun: N
  /** The singular noun. Default: the noun without its last letter. */
  one?: string
  description: string
  /**
   * The fields in requests, with their rules. The fields in responses are derived from them, without the `hidden` ones.
   */
  fields: F
  /** Whether the service maintains `created_at` and `updated_at`. */
  timestamps?: T
  /**
   * The filters of lists: `status` by equality, `price_lt` by a bound, `status_in` by several values, `name_contains` by
   * words. Several filters of one field are combined with AND.
   */
  filters?: readonly L[]
  /** The text fields that `q` searches. Each has a column for it: `name_key` for `name`. */
  search?: readonly Q[]
  /** The text and choice fields by which records can be summarized. */
  groups?: readonly G[]
  /** The number fields whose range and mean summaries have. */
  measures?: readonly M[]
  /** The unique text fields that can name a record in an update of many. Each is also a filter by equality. */
  keys?: readonly K[]
  /** The attributes for `sort`. Default: `id`, all visible fields and the timestamps. */
  sort?: readonly S[]
  /**
   * Fields that are filtered or sorted without an index that begins with them, each with the reason. Any other field
   * without an index is an error at startup.
   */
  unindexed?: { [K in keyof F]?: string }
  /** Aliases for fields in `sort`: `{ username: 'name' }`. */
  sortAliases?: Record<string, string>
  /** The fields that PUT accepts. Default: all fields. */
  replace?: R
  /** Standard procedures to omit. */
  omit?: readonly O[]
  /** The required role of a procedure, if it is not the default: `reader` for reads, `writer` for writes. */
  access?: { [V in Verb]?: Role }
  /** The role that changing a field requires once API keys exist. */
  fieldRoles?: { [K in keyof F]?: Role }
  /**
   * The roles that certain values require once API keys exist: to create a record with the value, and to change or delete a
   * record that has it. `{ role: { admin: 'admin' } }`.
   */
  valueRoles?: { [K in keyof F]?: Record<string, Role> }
  errorForm?: ErrorForm
  /** Default: `/orders`, from the noun. */
  path?: `/${string}`
  /** The path parameter for the id. Default: `id`. */
  param?: string
  example?: Record<string, unknown>
  /** Overrides for the REST bindings of standard procedures, and additional bindings. */
  bindings?: (record: z.ZodObject<PublicRecord<F, T>>) => { [V in Verb]?: BindingOverrides }
  /** Procedures in addition to the standard ones. */
  procedures?: (versioned: z.ZodObject<Row<F, T>>, record: z.ZodObject<PublicRecord<F, T>>) => P
}

/** What the service needs to know about a collection, in addition to its procedures. */
export interface CollectionFacts {
  /** The singular noun. */
  one: string
  /** Whether the service maintains `created_at` and `updated_at`. */
  timestamps: boolean
  /** Write-only fields. */
  hidden: readonly string[]
  /** Aliases in `sort` and their fields. */
  sortAliases: Readonly<Record<string, string>>
  filters: readonly string[]
  /** The fields that `q` searches. */
  search: readonly string[]
  /** The fields that records can be summarized by. */
  groups: readonly string[]
  /** The number fields whose range and mean summaries have. */
  measures: readonly string[]
  /** The unique fields that can name a record in an update of many. */
  keys: readonly string[]
  /** The fields that lists can be sorted by, without aliases. */
  sort: readonly string[]
  /** The roles that records with certain values require, by field and value. */
  valueRoles: Readonly<Record<string, Readonly<Record<string, Role>>>>
  /** The noun of the referenced collection, by field. */
  references: Readonly<Record<string, string>>
  /** Filters and sorts without an index, each with the reason. */
  unindexed: Readonly<Record<string, string>>
}
