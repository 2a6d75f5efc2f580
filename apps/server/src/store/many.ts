import { setImmediate } from 'node:timers/promises'
import { type Change, type RecordTable, type Tables, UniqueViolation, type Where } from '@resource/database'
import { ApiError, FieldError, type Path, parserOf, validate } from '@resource/openapi'
import type { z } from 'zod'
import type { FieldRules, RecordRules } from '../access/field-roles.ts'
import type { Context, MutationContext } from './context.ts'
import type { Row, RowMapping, Values } from './row-mapping.ts'
import { type IfVersion, notFound, writeVersioned } from './versioned.ts'

type CheckChange = (change: Change<Row>) => void

interface ManyOptions {
  noun: string
  /** The record's name in messages: `User` */
  name: string
  tableOf: (tables: Tables) => RecordTable<Row>
  rows: RowMapping
  /** The input of `create` and its roles, for the records that an update creates. */
  creation: { input: z.ZodObject; rules: FieldRules }
  /** The roles that changing or deleting a stored record requires. */
  guard: RecordRules
  /** Checks a change before its transaction. Returns the check of the record before and after. */
  checkChange: (input: Values, context: Context) => Promise<CheckChange>
  /** @throws FieldError 403 if the caller may not change one of the hidden fields in the input */
  checkHidden: (input: Values, context: Context) => void
  /** Rethrows an error of a delete; a violated reference as a 409 with the number of records that refer to the record. */
  refuseDelete: (error: unknown, id: number) => Promise<never>
}

interface RowResult {
  status: number
  changed?: boolean
  record?: Values
  error?: string
  fields?: { field: string; message: string }[]
}

interface UpdateInput {
  partial: boolean
  key?: string
  create: boolean
}

interface NamedRow extends Values {
  id?: number
  if_version?: IfVersion
}

// Between so many rows other requests are served.
const ROWS_PER_STEP = 50

/** The procedures of a collection that write many records. */
export function manyService({
  noun,
  name,
  tableOf,
  rows,
  creation,
  guard,
  checkChange,
  checkHidden,
  refuseDelete,
}: ManyOptions) {
  const parseCreation = parserOf(creation.input)

  const createRow = async (table: RecordTable<Row>, row: Values, ready: Values | undefined, context: Context) => {
    const { id: _, if_version: __, ...fields } = row
    const input = (await validate(parseCreation, fields)) as Values
    creation.rules.checkValues(context.caller, input)
    const [created] = await table.write([{ create: rows.created(input, ready, new Date()) }])
    return (created as { after: Row }).after
  }

  return {
    updateMany: async (input: Values, context: MutationContext) => {
      const { partial, key = 'id', create } = input as never as UpdateInput
      const given = input[noun] as (NamedRow | FieldError)[]
      const checked = await eachRow(given, partial, noun, async (row) => {
        if (row instanceof FieldError) throw row
        return { row, check: await checkChange(row, context) }
      })
      const inputs = checked.map((each) => ('row' in each ? each.row : {}))
      const keyColumn = rows.keyColumn(key)

      return context.write(
        async (tx, prepared: Values[] | undefined, attempt) => {
          const table = tableOf(tx)
          await table.lockFor(
            inputs.map(({ [key]: value, ...fields }) => {
              const change = rows.changes(fields, undefined)
              if (key === 'id' && value !== undefined) return { id: value as number, change }
              return create ? { create: change } : { change }
            }),
          )
          const ids = key === 'id' ? undefined : await idsByKey(table, keyColumn.column, inputs.map(keyColumn.valueOf))
          const change = async (id: number, row: NamedRow, check: CheckChange, ready: Values | undefined) => {
            checkHidden(row, context)
            // The value of the key identifies the record and is not a change, for example of its letter case.
            const { [key]: _, id: given = id, if_version, ...fields } = row
            if (given !== id) throw invalid('id', `must be that of the record with this ${key}`)
            const change = rows.changes(fields, ready)
            const written = await writeVersioned(table, name, id, if_version, { change })
            check(written)
            const { before, after } = written
            return { status: 200, changed: after.version !== before.version, record: rows.present(after) }
          }
          const write = async (row: NamedRow, check: CheckChange, ready: Values | undefined): Promise<RowResult> => {
            const value = keyColumn.valueOf(row)
            const id = ids === undefined ? row.id : ids.get(value)
            if (id !== undefined) return change(id, row, check, ready)
            if (!create) throw value === undefined ? invalid(key, 'is required') : notFound(name)
            if (row.if_version !== undefined)
              throw new ApiError(412, `${name} does not exist, so it has no version`, { reason: 'stale_version' })
            try {
              const stored = await createRow(table, row, ready, context)
              ids?.set(value, stored.id)
              return { status: 201, record: rows.present(stored) }
            } catch (error) {
              // On PostgreSQL another write may have created the record since its key was looked up.
              const isTaken = ids !== undefined && error instanceof UniqueViolation
              const found = isTaken && (await idsByKey(table, keyColumn.column, [value])).get(value)
              if (!found) throw error
              return change(found, row, check, ready)
            }
          }
          const results = await eachRow(checked, partial, noun, (each, index) => {
            if ('status' in each) return each
            const run = () => write(each.row, each.check, prepared?.[index]).catch((error) => rows.refuse(error))
            return partial ? attempt(run) : run()
          })
          return { results }
        },
        { ...rows.preparation(inputs, context), autocommit: false },
      )
    },

    deleteMany: (input: Values, { caller, write }: MutationContext) => {
      const { partial } = input as never as UpdateInput
      const given = input[noun] as (NamedRow | FieldError)[]
      return write(
        async (tx, _, attempt) => {
          const ids = given.flatMap((row) => (row instanceof FieldError ? [] : (row.id ?? [])))
          await tableOf(tx).lockFor(ids.map((id) => ({ id, delete: true })))
          const remove = async (row: NamedRow | FieldError) => {
            if (row instanceof FieldError) throw row
            const { id = 0, if_version } = row
            const run = async () => {
              const { before } = await writeVersioned(tableOf(tx), name, id, if_version, { delete: true })
              guard.check(caller, before)
            }
            await (partial ? attempt(run) : run()).catch((error) => refuseDelete(error, id))
            return { status: 204 }
          }
          const results = await eachRow(given, partial, noun, remove)
          return { results: results.map((result, index) => ({ ...result, ...idOf(given[index]) })) }
        },
        { autocommit: false },
      )
    },
  }
}

/**
 * The results of `run` for each row. With partial success, a row that fails has its error as the result.
 *
 * @throws FieldError with the path of the row for the first one that fails, without partial success
 */
async function eachRow<Given, Result>(
  given: Given[],
  partial: boolean,
  noun: string,
  run: (row: Given, index: number) => Promise<Result> | Result,
): Promise<(Result | RowResult)[]> {
  const results: (Result | RowResult)[] = []
  for (const [index, row] of given.entries()) {
    if (index % ROWS_PER_STEP === ROWS_PER_STEP - 1) await setImmediate()
    try {
      results.push(await run(row, index))
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      if (!partial) throw atRow(error, [noun, index])
      const { status, message, fields } = error
      results.push({ status, error: message, ...(fields.length > 0 && { fields }) })
    }
  }
  return results
}

function atRow(error: ApiError, at: Path): FieldError {
  if (error instanceof FieldError) return error.withPaths((path) => [...at, ...path])
  const { status, message, reason } = error
  return new FieldError(status, [{ path: at, message }], { reason })
}

/** The ids of the records with one of these values in a unique column. No other write can give the records other values. */
async function idsByKey(table: RecordTable<Row>, column: string, values: unknown[]): Promise<Map<unknown, number>> {
  const wanted = values.filter((value) => value !== undefined)
  const where = { [column]: { in: wanted } } as Where<Row>
  const order = { column: 'id', descending: false } as const
  for (;;) {
    const locked = new Set<unknown>((await table.lock(where, wanted.length)).map(({ id }) => id))
    const found = await table.page({ columns: ['id', column], where, order, take: wanted.length })
    // While this write waited for a lock, another may have given one of the values to a further record.
    if (found.some(({ id }) => !locked.has(id))) continue
    return new Map(found.map((row): [unknown, number] => [row[column], row.id as number]))
  }
}

function invalid(field: string, message: string): FieldError {
  return new FieldError(400, [{ path: [field], message }])
}

/** The id of a row; none for an invalid row, and for an id that no record can have. */
function idOf(row: NamedRow | FieldError | undefined): { id?: number } {
  return row === undefined || row instanceof FieldError || !row.id ? {} : { id: row.id }
}
