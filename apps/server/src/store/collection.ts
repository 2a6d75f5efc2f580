import { type CollectionFacts, type Contract, contract, ROLES, type Role } from '@resource/contract'
import { type Change, type Database, declarations, type RecordTable, type Tables, type Where } from '@resource/database'
import { z } from 'zod'
import { type FieldRules, fieldRules, recordRules } from '../access/field-roles.ts'
import { checkAgreement, checkCascades, type DeclaredTable } from './agreement.ts'
import { batchService } from './batches.ts'
import type { Context, MutationContext, Services } from './context.ts'
import { manyService } from './many.ts'
import { columnsOf, type PageRequest, readPage } from './page.ts'
import { type DerivedColumn, type Row, rowMapping, searchColumns, type Values } from './row-mapping.ts'
import { summaryService } from './summaries.ts'
import { type IfVersion, notFound, refuseDelete, writeVersioned } from './versioned.ts'

/** The names of the collections; each has a table of the same name. */
export type CollectionNoun = {
  [N in keyof Contract & keyof Tables]: Contract[N] extends { collection: CollectionFacts } ? N : never
}[keyof Contract & keyof Tables]

/** The behavior of a collection's service beyond the standard. */
export type CollectionRules<N extends CollectionNoun> = {
  /** Columns derived from fields: `{ email_key: { from: 'email', make: … } }`. */
  derived?: Record<string, DerivedColumn>
} & (HasAdditional<N> extends true ? { procedures: Procedures<N> } : { procedures?: Procedures<N> })

/** All additional procedures that the collection declares, and replacements for standard ones. */
type Procedures<N extends CollectionNoun> = (
  standard: Standard,
) => Pick<Services[N], Additional<N>> & Partial<Services[N]>

interface AnyRules {
  derived?: Record<string, DerivedColumn>
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
  | 'deleteMany'
  | 'createBatch'
  | 'getBatch'
  | 'applyBatch'
type Run = (input: Values, context: MutationContext, shown?: readonly string[]) => Promise<unknown>

/** The standard procedures, including those that a collection omits. */
type Standard = Record<Verb, Run>

interface Declared {
  collection: CollectionFacts
  procedures: { [V in Verb]?: { input: z.ZodObject; output: z.ZodObject; access: Role } }
}

interface Named {
  id: number
  if_version?: IfVersion
}

/**
 * Creates the services of all collections.
 *
 * @param database to count the records that refer to one that cannot be deleted
 * @throws Error if a declaration does not match its table
 */
export function collectionServices(database: Database, rules: AllRules): Pick<Services, CollectionNoun> {
  const nouns = Object.entries(contract).flatMap(([noun, resource]) => ('collection' in resource ? [noun] : []))
  const services = (nouns as CollectionNoun[]).map((noun) => {
    const { derived = {}, procedures } = (rules[noun] ?? {}) as AnyRules
    const standard = standardService(database, noun, { ...searchColumns(contract[noun].collection.search), ...derived })
    return [noun, { ...standard, ...procedures?.(standard) }]
  })
  return Object.fromEntries(services)
}

function standardService(database: Database, noun: CollectionNoun, derived: Record<string, DerivedColumn>): Standard {
  const { collection: facts, procedures } = contract[noun] as unknown as Declared
  const { hidden } = facts
  const name = facts.one.replace(/^./, (letter) => letter.toUpperCase())
  const tableOf = (tables: Tables) => tables[noun] as unknown as RecordTable<Row>
  const shown = Object.keys(procedures.get?.output.shape ?? {})
  const { idempotency_key: _, ...input } = procedures.create?.input.shape ?? {}
  const stored = Object.fromEntries(Object.entries(input).filter(([field]) => !hidden.includes(field)))
  const table = declarations[noun] as unknown as DeclaredTable | undefined
  const { columns = {}, unique = [] } = table ?? {}
  const rows = rowMapping({ facts, fields: Object.keys(stored), shown, derived, columns, unique })
  const keyColumns = facts.keys.map((key) => rows.keyColumn(key).column)
  checkAgreement({ noun, facts, fields: stored, shown, derived: Object.keys(derived), keyColumns }, table)
  const guard = recordRules(facts)
  checkCascades(noun, table, highest(roleToDelete(noun), guard.roles), roleToDelete)
  // Each row deleted by a cascade gets an audit entry, which needs further statements.
  const cascades = Object.values(declarations as unknown as Record<string, DeclaredTable>).some(({ references }) =>
    Object.values(references).some((reference) => reference?.table === noun && reference.onDelete === 'Cascade'),
  )
  const sortable = { ...Object.fromEntries(shown.map((field) => [field, field])), ...facts.sortAliases }
  const creation = procedures.create && fieldRules(procedures.create.input)
  const noRules = fieldRules(z.object())
  const rowRules = procedures.updateMany && fieldRules(rowOf(procedures.updateMany.input, noun))
  const batchRules = procedures.createBatch && fieldRules(procedures.createBatch.input)
  const refuse = (error: unknown, id?: number) => refuseDelete(error, noun, id, database.read)

  return {
    list: async (input, { read }, wanted = rows.readColumns) => {
      const page = input as never as PageRequest
      const found = await readPage(tableOf(read), rows.where(input), sortable, page, wanted)
      for (const row of found.rows) rows.revived(row)
      return { [noun]: found.rows, ...found.facts }
    },

    get: async ({ id }, { read }, wanted = rows.readColumns) => {
      const table = tableOf(read)
      const row = await table.find({ id } as Where<Row>, wanted && columnsOf(wanted, table))
      if (row === undefined) throw notFound(name)
      return rows.revived(row)
    },

    create: async (input, context) => {
      creation?.checkValues(context.caller, input)
      await rows.check(input)
      return context.write(
        async (tx, ready?: Values[]) => {
          const row = rows.created(input, ready?.[0], new Date())
          const [created] = await tableOf(tx)
            .write([{ create: row }])
            .catch((error) => rows.refuse(error))
          return rows.present((created as { after: Row }).after)
        },
        rows.preparation([input], context),
      )
    },

    createMany: async (input, context) => {
      const records = input[noun] as Values[]
      for (const [index, record] of records.entries()) creation?.checkValues(context.caller, record, [noun, index])
      for (const [index, record] of records.entries()) await rows.check(record, [noun, index])
      return context.write(
        async (tx, ready?: Values[]) => {
          const now = new Date()
          const stored = await tableOf(tx)
            .write(records.map((record, index) => ({ create: rows.created(record, ready?.[index], now) })))
            .catch((error) => rows.refuse(error, noun))
          return { [noun]: stored.map(({ after }) => rows.present(after)) }
        },
        rows.preparation(records, context),
      )
    },

    replace: change(procedures.replace && fieldRules(procedures.replace.input)),

    update: change(procedures.update && fieldRules(procedures.update.input)),

    delete: (input, { caller, write }) => {
      const { id, if_version } = input as unknown as Named
      const work = async (tx: Tables) => {
        const { before } = await writeVersioned(tableOf(tx), name, id, if_version, { delete: true })
        guard.check(caller, before)
        return { message: `${name} deleted` }
      }
      // A deletion that the caller may not make is rolled back, which needs a transaction.
      return write(work, { autocommit: !cascades && guard.allows(caller) })
    },

    summarize: summaryService(tableOf, rows.where),

    ...manyService({
      noun,
      name,
      tableOf,
      rows,
      creation: { input: procedures.create?.input ?? z.object(), rules: creation ?? noRules },
      guard,
      checkChange: async (input, context) => (await checkChange(rowRules, input, context)).check,
      checkHidden: (input, context) => checkHidden(rowRules, input, context),
      refuseDelete: refuse,
    }),

    ...batchService({
      noun,
      tableOf,
      read: database.read,
      rows,
      guard,
      check: async (input, { caller }) => {
        batchRules?.checkValues(caller, input)
        const changes = (input.changes ?? {}) as Values
        for (const field of rowRules?.guarded ?? [])
          if (changes[field] !== undefined) rowRules?.checkChange(caller, field)
      },
      refuseDelete: refuse,
    }),
  }

  function change(rules: FieldRules | undefined): Run {
    return async (input, context) => {
      const { id, if_version } = input as unknown as Named
      checkHidden(rules, input, context)
      const { check, comparesRecords } = await checkChange(rules, input, context)
      return context.write(
        async (tx, ready?: Values[]) => {
          const change = rows.changes(input, ready?.[0])
          const written = await writeVersioned(tableOf(tx), name, id, if_version, { change }).catch(rows.refuse)
          check(written)
          return rows.present(written.after)
        },
        // A change that the caller may not make is rolled back, which needs a transaction.
        { ...rows.preparation([input], context), autocommit: !comparesRecords },
      )
    }
  }

  /** Checks the hidden fields of a change. A record does not show whether they differ, so any value counts as a change. */
  function checkHidden(rules: FieldRules | undefined, input: Values, { caller }: Context): void {
    for (const field of rules?.guarded ?? []) {
      if (hidden.includes(field) && input[field] !== undefined) rules?.checkChange(caller, field)
    }
  }

  /** Checks a change before its transaction. `check` gets the record before and after. */
  async function checkChange(rules: FieldRules | undefined, input: Values, { caller }: Context) {
    await rows.check(input)
    const guarded = rules?.guarded.filter((field) => input[field] !== undefined && !hidden.includes(field)) ?? []
    const compared = rules?.allows(caller) ? [] : guarded
    const check = ({ before, after }: Change<Row>) => {
      for (const field of compared) if (before[field] !== after[field]) rules?.checkChange(caller, field)
      if (before.version !== after.version) guard.check(caller, before)
    }
    return { check, comparesRecords: compared.length > 0 || !guard.allows(caller) }
  }
}

/** The schema of the rows in the input of a write of many records. */
function rowOf({ shape }: z.ZodObject, noun: string): z.ZodObject {
  return (shape[noun] as z.ZodArray<z.ZodObject>).element
}

/** The highest of the roles that deleting a record can need; undefined if records cannot be deleted. */
function highest(needed: Role | undefined, others: Role[]): Role | undefined {
  return needed && others.reduce((a, b) => (ROLES.indexOf(b) > ROLES.indexOf(a) ? b : a), needed)
}

function roleToDelete(noun: PropertyKey): Role | undefined {
  return (contract as unknown as Record<PropertyKey, Declared>)[noun]?.procedures.delete?.access
}
