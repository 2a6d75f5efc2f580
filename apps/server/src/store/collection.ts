import {
  type CollectionFacts,
  type Contract,
  contract,
  type Output,
  type ReadOnly,
  ROLES,
  type Role,
} from '@resource/contract'
import { declarations, type RecordTable, type ScopeFilter, type Tables, type Where } from '@resource/database'
import { ApiError, type FieldError, parserOf } from '@resource/openapi'
import { z } from 'zod'
import { authorize, type Caller } from '../access/caller.ts'
import { checkAgreement, type DeclaredTable, refuseJoint, refuseUncomputed } from './agreement.ts'
import { checkCascades, refuseUnchecked, roleToDelete } from './cascades.ts'
import type { MutationContext, Services } from './context.ts'
import { readChanges, writeMatching } from './matching-writes.ts'
import { columnsOf, type PageRequest, readPage } from './page.ts'
import type { Check, Compute } from './record-rules.ts'
import { type Result, type WrittenCollection, writeRecords } from './record-writes.ts'
import { type IfVersion, notFound } from './refusals.ts'
import type { RecordWrite } from './requested-write.ts'
import { type DerivedColumn, type Row, rowMapping, searchColumns, type Values } from './row-mapping.ts'
import { summaryService } from './summaries.ts'
import { writeRules } from './write-rules.ts'

/** The names of the collections; each has a table of the same name. */
type CollectionNoun = {
  [N in keyof Contract & keyof Tables]: Contract[N] extends { collection: CollectionFacts } ? N : never
}[keyof Contract & keyof Tables]

/** The behavior of a collection's service beyond the standard. */
export type CollectionRules<N extends CollectionNoun> = {
  /** Columns derived from one field or from several: `{ email_key: { from: 'email', make: … } }`. */
  derived?: Record<string, DerivedColumn>
  /**
   * Looks at each change of a record in its transaction, whichever way it is made: single, in bulk, by filter, as an upsert, by a
   * proposal, by an undo. It does not see what services themselves write to tables.
   */
  check?: Check<Output<N, 'get'>>
  /** Computes read-only fields whenever a record is created or changed, in the ways that `check` sees. A delete computes nothing. */
  compute?: Compute<Output<N, 'get'>, ReadOnlyName<Contract[N]['procedures']['get']['output']['shape']>>
  /**
   * Which records exist for a caller: for every read and write, in the feed of changes and in the audit log. Undefined for all. A
   * caller with a scope sees the proposals of his own alone, because others show records.
   */
  scope?: (caller: Caller) => ScopeFilter<Output<N, 'get'>> | undefined
} & (HasAdditional<N> extends true ? { procedures: Procedures<N> } : { procedures?: Procedures<N> })

type ReadOnlyName<Shape> = { [K in keyof Shape]: Shape[K] extends ReadOnly ? K : never }[keyof Shape]

/** All additional procedures that the collection declares, and replacements for standard ones. */
type Procedures<N extends CollectionNoun> = (
  standard: Standard,
) => Pick<Services[N], Additional<N>> & Partial<Services[N]>

interface AnyRules {
  derived?: Record<string, DerivedColumn>
  check?: Check<Values>
  compute?: Compute<Values, string>
  procedures?: (standard: Standard) => object
}

type Additional<N extends CollectionNoun> = Exclude<keyof Services[N], Verb>
type HasAdditional<N extends CollectionNoun> = [Additional<N>] extends [never] ? false : true

/** The rules of the collections: required for those with additional procedures. */
export type AllRules = {
  [N in CollectionNoun as HasAdditional<N> extends true ? N : never]: CollectionRules<N>
} & {
  [N in CollectionNoun]?: CollectionRules<N>
}

type Verb =
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
type Run = (input: Values, context: MutationContext, shown?: readonly string[]) => Promise<unknown>

/** The standard procedures, including those that a collection omits. */
type Standard = Record<Exclude<Verb, 'deleteWhere'>, Run> & {
  /** @param max how many records it may delete; 10,000 by default */
  deleteWhere: (input: Values, context: MutationContext, max?: number) => Promise<{ message: string; removed: number }>
}

interface Declared {
  collection: CollectionFacts
  procedures: { [V in Verb]?: { input: z.ZodObject; output: z.ZodObject; access: Role } }
}

interface NamedRow extends Values {
  id?: number
  if_version?: IfVersion
}

interface UpdateMany {
  partial: boolean
  key?: string
  create: boolean
}

type ChangesPosition = () => string | undefined | Promise<string | undefined>

/**
 * Creates the services of all collections.
 *
 * @param changesPosition a position in the feed of changes before all that later reads may not show
 * @returns the services, and how the records of each collection are written, by noun
 * @throws Error if a declaration does not match its table
 */
export function collectionServices(rules: AllRules, changesPosition: ChangesPosition) {
  const nouns = Object.entries(contract).flatMap(([noun, resource]) => ('collection' in resource ? [noun] : []))
  const collections = new Map<string, WrittenCollection>()
  const services = (nouns as CollectionNoun[]).map((noun) => {
    const { derived = {}, check, compute, procedures } = (rules[noun] ?? {}) as AnyRules
    const columns = { ...searchColumns(contract[noun].collection.search), ...derived }
    const { written, ...standard } = standardService(noun, columns, { check, compute }, changesPosition)
    collections.set(noun, written)
    return [noun, { ...standard, ...procedures?.(standard) }]
  })
  return { services: Object.fromEntries(services) as Pick<Services, CollectionNoun>, collections }
}

function standardService(
  noun: CollectionNoun,
  derived: Record<string, DerivedColumn>,
  own: { check: Check<Values> | undefined; compute: Compute<Values, string> | undefined },
  changesPosition: ChangesPosition,
): Standard & { written: WrittenCollection } {
  const { collection: facts, procedures } = contract[noun] as unknown as Declared
  const { hidden } = facts
  const name = facts.one.replace(/^./, (letter) => letter.toUpperCase())
  const tableOf = (tables: Tables) => tables[noun] as unknown as RecordTable<Row>
  const shown = Object.keys(procedures.get?.output.shape ?? {})
  const { idempotency_key: _, ...input } = procedures.create?.input.shape ?? {}
  const given = Object.entries(input).filter(([field]) => !hidden.includes(field))
  const stored = { ...Object.fromEntries(given), ...facts.readOnly }
  const table = declarations[noun] as unknown as DeclaredTable | undefined
  const { columns = {}, unique = [] } = table ?? {}
  const rows = rowMapping({ facts, fields: Object.keys(stored), shown, derived, columns, unique })
  const keyColumns = facts.keys.map((key) => rows.keyColumn(key).column)
  checkAgreement({ noun, facts, fields: stored, shown, derived: Object.keys(derived), keyColumns }, table)
  const creation = procedures.create?.input ?? z.object()
  const changedRow = rowsOf(procedures.updateMany?.input, noun)
  const changeable = { ...procedures.replace?.input.shape, ...procedures.update?.input.shape, ...changedRow }
  const rules = writeRules(facts, creation.shape, changeable, own)
  const changesSchema = procedures.updateWhere?.input.shape.changes ?? z.object()
  const toDelete = (other: PropertyKey) =>
    roleToDelete((contract as Partial<Contract>)[other as CollectionNoun]?.procedures ?? {})
  checkCascades(noun, table, highest(toDelete(noun), rules.recordRoles), toDelete)
  if (own.check !== undefined) refuseUnchecked(noun, table)
  if (own.compute === undefined) refuseUncomputed(noun, facts)
  refuseJoint(noun, derived, shown)
  // Each row deleted by a cascade gets an audit entry, which needs further statements.
  const cascades = Object.values(declarations as unknown as Record<string, DeclaredTable>).some(({ references }) =>
    Object.values(references).some((reference) => reference?.table === noun && reference.onDelete === 'Cascade'),
  )
  const sortable = { ...Object.fromEntries(shown.map((field) => [field, field])), ...facts.sortAliases }
  const written = {
    noun,
    name,
    one: facts.one,
    tableOf,
    rows,
    rules,
    readOnly: facts.readOnly,
    parseCreation: parserOf(creation),
    cascades,
  }
  const recordOf = (result: Result | undefined) => rows.present((result as { after: Row }).after)
  const change: Run = (input, context) => {
    const { id, if_version } = input as NamedRow
    return writeRecords(written, context, [{ at: [], id, if_version, change: input }], ([result]) => recordOf(result))
  }

  return {
    written,

    list: async (input, { read }, wanted = rows.readColumns) => {
      const page = input as never as PageRequest
      const position = changesPosition()
      const changes_cursor = typeof position === 'object' ? await position : position
      const found = await readPage(tableOf(read), rows.where(input), sortable, page, wanted)
      for (const row of found.rows) rows.revived(row)
      return { [noun]: found.rows, ...found.facts, changes_cursor }
    },

    get: async ({ id }, { read }, wanted = rows.readColumns) => {
      const table = tableOf(read)
      const row = await table.find({ id } as Where<Row>, wanted && columnsOf(wanted, table))
      if (row === undefined) throw notFound(name)
      return rows.revived(row)
    },

    create: (input, context) =>
      writeRecords(written, context, [{ at: [], create: input }], ([result]) => recordOf(result)),

    createMany: (input, context) => {
      const creates = (input[noun] as Values[]).map((create, index) => ({ at: [noun, index], create }))
      return writeRecords(written, context, creates, (results) => ({ [noun]: results.map(recordOf) }))
    },

    replace: change,

    update: change,

    delete: (input, context) => {
      const { id = 0, if_version } = input as NamedRow
      const message = `${name} deleted`
      return writeRecords(written, context, [{ at: [], id, if_version, delete: true }], () => ({ message }))
    },

    updateMany: (input, context) => {
      const { partial, key = 'id', create } = input as unknown as UpdateMany
      const keyColumn = rows.keyColumn(key)
      const changes = (input[noun] as (NamedRow | FieldError)[]).map((row, index): RecordWrite | FieldError => {
        if (row instanceof ApiError) return row
        const { id, if_version, ...fields } = row
        return {
          at: [noun, index],
          id,
          if_version,
          // The value of the key identifies the record and is not a change, for example of its letter case.
          change: { ...fields, [key]: undefined },
          ...(key !== 'id' && { key: { field: key, column: keyColumn.column, value: keyColumn.valueOf(row) } }),
          ...(create && (key !== 'id' || id === undefined) && { orCreate: fields }),
        }
      })
      const answer = (results: Result[]) => ({
        results: results.map((result) => {
          if (result instanceof ApiError) return outcomeOf(result)
          const record = recordOf(result)
          if (result.before === undefined) return { status: 201, record }
          return { status: 200, changed: result.before.version !== result.after?.version, record }
        }),
      })
      return writeRecords(written, context, changes, answer, partial)
    },

    updateWhere: (input, context) => {
      const changes = readChanges(input.changes as Record<string, Values>, changesSchema)
      return writeMatching(written, context, rows.where(input), changes, (matched, records) => ({
        matched,
        changed: records.filter(({ before, after }) => before?.version !== after?.version).length,
      }))
    },

    deleteWhere: async (input, context, max) => {
      if (input.id_in === undefined) authorize(context, facts.purgeRole)
      const answer = (removed: number) => ({
        message: `${removed} ${removed === 1 ? facts.one : noun} removed`,
        removed,
      })
      return writeMatching(written, context, rows.where(input), undefined, answer, max)
    },

    summarize: summaryService(tableOf, rows.where),
  }
}

/** The result of a row that is not written. */
function outcomeOf({ status, message, fields }: ApiError) {
  return { status, error: message, ...(fields.length > 0 && { fields }) }
}

/** The fields of the rows in the input of a write of many records. */
function rowsOf(input: z.ZodObject | undefined, noun: string): z.ZodRawShape {
  return input === undefined ? {} : (input.shape[noun] as z.ZodArray<z.ZodObject>).element.shape
}

/** The highest of the roles that deleting a record can need; undefined if records cannot be deleted. */
function highest(needed: Role | undefined, others: Role[]): Role | undefined {
  return needed && others.reduce((a, b) => (ROLES.indexOf(b) > ROLES.indexOf(a) ? b : a), needed)
}
