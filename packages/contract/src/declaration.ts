import type { ErrorForm, RestMeta } from '@resource/openapi/contract'
import type { FilterName } from './filters.ts'
import type { Fields, Filterable, TimesOf, Writable } from './records.ts'
import type { Role } from './roles.ts'
import type { Transitions } from './transitions.ts'

/** The names of the standard procedures. */
export type Verb =
  | 'list'
  | 'get'
  | 'create'
  | 'createMany'
  | 'replace'
  | 'update'
  | 'delete'
  | 'summarize'
  | 'updateMany'
  | 'updateWhere'
  | 'deleteWhere'

/** The role and the REST binding of a standard procedure. */
export type RestOf = (verb: Verb, defaults: RestMeta) => { access: Role; meta: { openapi: RestMeta } }

/** The declaration of a collection. */
export interface Declaration {
  noun: string
  /** The singular noun. Default: the noun without its last letter. */
  one?: string
  description: string
  /**
   * The fields in requests, with their rules, and the `readOnly` ones. The fields in responses are derived from them, without
   * the `hidden` ones.
   */
  fields: Fields
  /** Whether the service maintains `created_at` and `updated_at`. */
  timestamps?: boolean
  /**
   * The filters of lists: `status` by equality, `price_lt` by a bound, `status_in` by several values, `name_contains` by
   * words. Several filters of one field are combined with AND.
   */
  filters?: readonly string[]
  /** The text fields that `q` searches. Each has a column for it: `name_key` for `name`. */
  search?: readonly string[]
  /** The text and choice fields by which records can be summarized. */
  groups?: readonly string[]
  /** The number fields whose range and mean summaries have. */
  measures?: readonly string[]
  /** The unique text fields that can name a record in an update of many. Each is also a filter by equality. */
  keys?: readonly string[]
  /** The attributes for `sort`. Default: `id`, all visible fields and the timestamps. */
  sort?: readonly string[]
  /**
   * Fields that are filtered or sorted without an index that begins with them, each with the reason. Any other field
   * without an index is an error at startup.
   */
  unindexed?: Readonly<Record<string, string>>
  /** Aliases for fields in `sort`: `{ username: 'name' }`. */
  sortAliases?: Readonly<Record<string, string>>
  /** The fields that PUT accepts. Default: all that requests can set. */
  replace?: Fields
  /** Standard procedures to omit. */
  omit?: readonly Verb[]
  /**
   * The required role of a procedure, if it is not the default: `reader` for reads, `writer` for writes, `admin` for
   * `deleteWhere` by other filters than ids.
   */
  access?: { [V in Verb]?: Role }
  /** The role that changing a field requires. */
  fieldRoles?: Readonly<Record<string, Role>>
  /**
   * The roles that certain values require: to create a record with the value, and to change or delete a
   * record that has it. `{ role: { admin: 'admin' } }`.
   */
  valueRoles?: Readonly<Record<string, Readonly<Record<string, Role>>>>
  /**
   * The values to which a choice can change, by its value: `{ status: { open: ['paid', 'void'], paid: ['shipped'] } }`. A value
   * that is not named stays. A new record can have any value.
   */
  transitions?: Transitions
  /**
   * Paths of the lists of the records that refer to another, by the field: `{ user_id: '/users/{user_id}/orders' }`. The
   * parameter has the name of the field, which is a filter. A missing record there is a 404.
   */
  nested?: Readonly<Record<string, `/${string}`>>
  errorForm?: ErrorForm
  /** Default: `/orders`, from the noun. */
  path?: `/${string}`
  /** The path parameter for the id. Default: `id`. */
  param?: string
  example?: Readonly<Record<string, unknown>>
}

type FieldOf<D extends Declaration> = keyof D['fields'] & string

type WritableOf<D extends Declaration> = keyof Writable<D['fields']> & string

/** What names fields in a declaration. */
interface Names<D extends Declaration> {
  filters: readonly FilterName<Filterable<D['fields'], TimesOf<D>>>[]
  search: readonly FieldOf<D>[]
  groups: readonly FieldOf<D>[]
  measures: readonly FieldOf<D>[]
  keys: readonly WritableOf<D>[]
  unindexed: { readonly [K in FieldOf<D>]?: string }
  fieldRoles: { readonly [K in FieldOf<D>]?: K extends WritableOf<D> ? Role : never }
  valueRoles: { readonly [K in FieldOf<D>]?: Readonly<Record<string, Role>> }
  nested: { readonly [K in FieldOf<D>]?: `/${string}/{${K}}/${string}` }
  transitions: { readonly [K in FieldOf<D>]?: Readonly<Record<string, readonly string[]>> }
}

/** A declaration that names only fields that it has, and has no unknown properties. */
export type Named<D extends Declaration> = {
  [K in keyof D]: K extends keyof Names<D> ? Names<D>[K] : K extends keyof Declaration ? D[K] : never
}

/** What the service needs to know about a collection, in addition to its procedures. */
export interface CollectionFacts {
  /** The singular noun. */
  one: string
  /** Whether the service maintains `created_at` and `updated_at`. */
  timestamps: boolean
  /** Write-only fields. */
  hidden: readonly string[]
  /** The fields that no request sets, with their rules. */
  readOnly: Fields
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
  /** The role that `deleteWhere` requires without `id_in`. */
  purgeRole: Role
  /** The roles that records with certain values require, by field and value. */
  valueRoles: Readonly<Record<string, Readonly<Record<string, Role>>>>
  transitions: Transitions
  /** The noun of the referenced collection, by field. */
  references: Readonly<Record<string, string>>
  /** Filters and sorts without an index, each with the reason. */
  unindexed: Readonly<Record<string, string>>
}
