import type { Procedure } from '@resource/openapi/contract'
import type { z } from 'zod'
import type { Declaration } from './declaration.ts'
import type { changesOf, idempotencyKey, message, searchText, stale, write } from './fields.ts'
import type { Filters } from './filters.ts'
import type { ManyProcedures, Under } from './many.ts'
import type { idBounds, MatchingProcedures } from './matching.ts'
import type { collectionFacts, listInput } from './pages.ts'
import type {
  Changeable,
  Filterable,
  Key,
  PublicRecord,
  Row,
  Shared,
  Shown,
  Times,
  TimesOf,
  Writable,
} from './records.ts'
import type { SummaryProcedures } from './summaries.ts'

type Write = typeof write
type Once = { idempotency_key: typeof idempotencyKey }
type Elements<L> = L extends readonly (infer E extends string)[] ? E : never
type Given<D extends Declaration> = Writable<D['fields']>
type Replaced<D extends Declaration> = D extends { replace: object } ? NonNullable<D['replace']> : Given<D>
type Sortable<D extends Declaration> = D extends { sort: readonly (infer S extends string)[] }
  ? S
  : 'id' | (keyof (Shown<D['fields']> & Times<TimesOf<D>>) & string)
/** The schemas of all filters, with `q` if the collection has a search index. */
type Matching<D extends Declaration> = Filters<
  Filterable<D['fields'], TimesOf<D>>,
  Elements<D['filters']> | Elements<D['keys']>
> &
  ([Elements<D['search']>] extends [never] ? unknown : { q: z.ZodOptional<typeof searchText> })
/** The schema of a record. */
export type RecordOf<D extends Declaration> = z.ZodObject<PublicRecord<D['fields'], TimesOf<D>>>
/** The schema of a record with its version. */
export type VersionedOf<D extends Declaration> = z.ZodObject<Row<D['fields'], TimesOf<D>>>

/** The standard procedures of a collection. The published client replaces these comments by those of each resource. */
interface Standard<D extends Declaration>
  extends SummaryProcedures<Matching<D>, Elements<D['groups']>, Elements<D['measures']>>,
    ManyProcedures<D['noun'], Changeable<Given<D>>, VersionedOf<D>, Elements<D['keys']>>,
    MatchingProcedures<Matching<D>, Shared<Given<D>, Elements<D['keys']>>> {
  /** Lists the matching records, one page at a time, in the order of `sort`. */
  list: Procedure<
    'query',
    ReturnType<typeof listInput<Matching<D> & typeof idBounds, Sortable<D>>>,
    z.ZodObject<Under<D['noun'], z.ZodArray<VersionedOf<D>>> & typeof collectionFacts>
  >
  /** Gets one record. */
  get: Procedure<'query', z.ZodObject<Key>, VersionedOf<D>>
  /** Creates a record. */
  create: Procedure<'mutation', z.ZodObject<Given<D> & Once>, VersionedOf<D>>
  /** Creates 1 to 1,000 records, all or none, and returns them in the order sent. An error names the index and the field. */
  createMany: Procedure<
    'mutation',
    z.ZodObject<Under<D['noun'], z.ZodArray<z.ZodObject<Given<D>>>> & Once>,
    z.ZodObject<Under<D['noun'], z.ZodArray<VersionedOf<D>>>>
  >
  /** Replaces a record. */
  replace: Procedure<'mutation', z.ZodObject<Key & Replaced<D> & Write>, VersionedOf<D>, typeof stale>
  /** Changes only the fields that are sent. */
  update: Procedure<'mutation', ReturnType<typeof changesOf<Changeable<Given<D>>>>, VersionedOf<D>, typeof stale>
  /** Deletes a record. Its id is never reused. */
  delete: Procedure<'mutation', z.ZodObject<Key & Write>, typeof message, typeof stale>
}

/**
 * The standard procedures that a collection has: records that cannot be deleted one by one cannot be deleted together either,
 * and records of unique and hidden fields alone cannot get the same values.
 */
export type StandardOf<D extends Declaration> = Omit<
  Standard<D>,
  | Elements<D['omit']>
  | ('delete' extends Elements<D['omit']> ? 'deleteWhere' : never)
  | ([keyof Shared<Given<D>, Elements<D['keys']>>] extends [never] ? 'updateWhere' : never)
>
