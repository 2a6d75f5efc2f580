import type { Procedure } from '@resource/openapi/contract'
import type { z } from 'zod'
import type { BatchProcedures } from './batches.ts'
import type { changesOf, idempotencyKey, message, searchText, stale, write } from './fields.ts'
import type { Filters } from './filters.ts'
import type { ManyProcedures } from './many.ts'
import type { listInput, pageFacts } from './pages.ts'
import type { Changeable, Fields, Key, PublicRecord, Row, Shared, Times } from './records.ts'
import type { SummaryProcedures } from './summaries.ts'

type Write = typeof write
type Once = { idempotency_key: typeof idempotencyKey }
type Under<N extends string, S extends z.ZodType> = { [K in N]: S }
/** The fields that filters can name. */
export type Filterable<F extends Fields, T extends boolean> = F & Times<T>
/** The schemas of all filters, with `q` if the collection has a search index. */
export type Matching<F extends Fields, T extends boolean, L extends string, Q> = Filters<Filterable<F, T>, L> &
  ([Q] extends [never] ? unknown : { q: z.ZodOptional<typeof searchText> })

/** The standard procedures of a collection. The published client replaces these comments by those of each resource. */
export interface Standard<
  N extends string,
  F extends Fields,
  T extends boolean,
  L extends z.ZodRawShape,
  S extends string,
  R extends Fields,
  G extends string,
  M extends string,
  K extends string,
> extends SummaryProcedures<L, G, M>,
    ManyProcedures<N, Changeable<F>, z.ZodObject<Row<F, T>>, K>,
    BatchProcedures<L, Shared<F, K>, z.ZodObject<PublicRecord<F, T>>> {
  /** Lists the matching records, one page at a time, in the order of `sort`. */
  list: Procedure<
    'query',
    ReturnType<typeof listInput<L, S>>,
    z.ZodObject<Under<N, z.ZodArray<z.ZodObject<Row<F, T>>>> & typeof pageFacts>
  >
  /** Gets one record. */
  get: Procedure<'query', z.ZodObject<Key>, z.ZodObject<Row<F, T>>>
  /** Creates a record. */
  create: Procedure<'mutation', z.ZodObject<F & Once>, z.ZodObject<Row<F, T>>>
  /** Creates 1 to 1,000 records, all or none, and returns them in the order sent. An error names the index and the field. */
  createMany: Procedure<
    'mutation',
    z.ZodObject<Under<N, z.ZodArray<z.ZodObject<F>>> & Once>,
    z.ZodObject<Under<N, z.ZodArray<z.ZodObject<Row<F, T>>>>>
  >
  /** Replaces a record. */
  replace: Procedure<'mutation', z.ZodObject<Key & R & Write>, z.ZodObject<Row<F, T>>, typeof stale>
  /** Changes only the fields that are sent. */
  update: Procedure<'mutation', ReturnType<typeof changesOf<Changeable<F>>>, z.ZodObject<Row<F, T>>, typeof stale>
  /** Deletes a record. Its id is never reused. */
  delete: Procedure<'mutation', z.ZodObject<Key & Write>, typeof message, typeof stale>
}

/** The omitted procedures: records that cannot be deleted one by one cannot be deleted together either. */
export type Omitted<O> = O | ('delete' extends O ? 'deleteMany' : never)

// biome-ignore lint/suspicious/noExplicitAny: the procedure names do not depend on the type arguments
export type Verb = keyof Standard<any, any, any, any, any, any, any, any, any>
