import { type CollectionFacts, type FilterFacts, readFilter } from '@resource/contract'
import { factsOf } from '@resource/contract/schema'
import {
  type Contains,
  type Entity,
  type Kind,
  OutsideScope,
  type Range,
  ReferenceViolation,
  searchKey,
  timestamp,
  UniqueViolation,
  type Where,
} from '@resource/database'
import { FieldError } from '@resource/openapi'
import type { Context } from './context.ts'

export type Values = Record<string, unknown>
export type Row = Entity & Values

/** A column derived from a field. Methods instead of properties, so that a rule can declare its field's type. */
export interface DerivedColumn {
  /** The source field, or several shown ones. */
  from: string | readonly string[]
  /** Returns what is wrong with a value of one field, as `must be …`, or undefined. */
  check?(value: unknown): Promise<string | undefined>
  /** Computes the column's value from those of the fields. Not called if all are absent, which leaves the column unchanged. */
  make?(...values: unknown[]): unknown
  /**
   * Computes the values of one field of all records of a call before its transaction, if that is slow; null for an absent value.
   *
   * @param isContinuation whether the call already used the hashing queue, for its fingerprint
   */
  prepare?(values: unknown[], context: Context, isContinuation: boolean): Promise<unknown[]>
}

export interface RowMappingOptions {
  facts: CollectionFacts
  /** The fields that are columns, without those that the service assigns. */
  fields: string[]
  /** The fields of a response. */
  shown: string[]
  derived: Record<string, DerivedColumn>
  /** The columns of the table, which include all of these fields. */
  columns: Readonly<Record<string, Kind>>
  /** The unique columns of the table. */
  unique: readonly PropertyKey[]
}

export type RowMapping = ReturnType<typeof rowMapping>

/** The column with the search text of a field. */
export const searchColumn = (field: string) => `${field}_key`

/** The columns with the search texts of these fields. */
export function searchColumns(fields: readonly string[]): Record<string, DerivedColumn> {
  const make = (text: string | null) => searchKey(text ?? '')
  return Object.fromEntries(fields.map((field) => [searchColumn(field), { from: field, make: make as never }]))
}

/** The earliest time that every engine supports, in milliseconds. No record has an earlier one. */
export const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z')

/** Maps the fields of a collection to the columns of its table, and back. */
export function rowMapping({ facts, fields, shown, derived, columns, unique }: RowMappingOptions) {
  const all = Object.entries(derived).map(([column, maker]) => ({ column, ...maker }))
  const makers = all.flatMap(({ from, ...maker }) => (typeof from === 'string' ? [{ from, ...maker }] : []))
  const joint = all.flatMap(({ from, ...maker }) => (typeof from === 'string' ? [] : [{ from, ...maker }]))
  const initial = Object.entries(facts.readOnly).map(([field, schema]) => [field, factsOf(schema).initial ?? null])
  const initials: Values | undefined = initial.length === 0 ? undefined : Object.fromEntries(initial)
  const checked = makers.filter(({ check }) => check !== undefined)
  const dates = shown.filter((field) => columns[field]?.startsWith('date'))
  const sentDates = dates.filter((field) => fields.includes(field))
  const filterable = [...fields, ...dates]
  const isWhole = dates.length === 0 && Object.keys(columns).every((column) => shown.includes(column))

  /** The unique column by which a field names a record: its own, or one derived from it. */
  const keyColumn = (field: string) => {
    const maker = unique.includes(field)
      ? undefined
      : makers.find(({ column, from, make }) => from === field && make !== undefined && unique.includes(column))
    const keyOf = (value: unknown): unknown =>
      value === undefined || maker?.make === undefined ? value : maker.make(value)
    return { column: maker?.column ?? field, keyOf, valueOf: (row: Values) => keyOf(row[field]) }
  }

  const isDate = (field: string, value: unknown): value is string => dates.includes(field) && typeof value === 'string'

  const filters = [...facts.filters, 'id_in', 'id_gte', 'id_lt'].map((filter) => {
    const { field, by } = readFilter(filter, filterable)
    const key = keyColumn(field)
    const equals = (value: unknown) => (isDate(field, value) ? new Date(value) : key.keyOf(value))
    const condition = (value: unknown): unknown => {
      if (by === 'contains') return contains(value as string, filter)
      if (by === 'value') return equals(value)
      if (by === 'in') return (value as unknown[]).map(equals)
      return isDate(field, value) ? new Date(value) : value
    }
    // Equality ignores what uniqueness ignores.
    const compared = by === 'value' || by === 'in' ? key.column : field
    return { filter, by, condition, column: by === 'contains' ? searchColumn(field) : compared }
  })

  const columnsOf = (input: Values, ready: Values | undefined): Row => {
    const row: Values = { ...ready }
    for (const field of fields) row[field] = input[field]
    for (const field of sentDates) {
      const value = row[field]
      if (isDate(field, value)) row[field] = new Date(value)
    }
    for (const { column, from, make } of makers) {
      if (make !== undefined && input[from] !== undefined) row[column] = make(input[from])
    }
    return row as Row
  }

  const checkFields = async (record: Values): Promise<void> => {
    for (const { from, check } of checked) {
      const message = await check?.(record[from])
      if (message !== undefined) throw new FieldError(400, [{ path: [from], message }])
    }
  }

  /** The record of a row read with `readColumns`. Changes the row in place, because a copy costs ten times as much. */
  const revived = (row: Values): Values => {
    for (const column of dates) {
      const value = row[column]
      if (value instanceof Date) row[column] = timestamp(value)
    }
    return row
  }

  return {
    /** The columns to read; undefined if the response has every column. */
    readColumns: isWhole ? undefined : shown,

    /** Rejects with a FieldError 400. Returns undefined if nothing is to be checked. */
    check: checked.length === 0 ? () => undefined : checkFields,

    /** The write options to prepare columns before the transaction, for each record. */
    preparation: (inputs: Values[], context: Context) => {
      const slow = makers.filter(({ from, prepare }) => prepare && inputs.some((input) => input[from] !== undefined))
      if (slow.length === 0) return {}
      const prepare = async (isContinuation: boolean) => {
        const ready: Values[] = inputs.map(() => ({}))
        for (const { column, from, prepare } of slow) {
          const values = inputs.map((input) => input[from])
          const made = (await prepare?.(values, context, isContinuation)) ?? []
          for (const [index, row] of ready.entries()) if (values[index] !== undefined) row[column] = made[index]
        }
        return ready
      }
      return { isSecret: true, prepare }
    },

    /** A new row. `ready` has the prepared columns. */
    created: (input: Values, ready: Values | undefined, now: Date): Row => {
      const row = columnsOf(initials === undefined ? input : { ...initials, ...input }, ready)
      return facts.timestamps ? Object.assign(row, { created_at: now, updated_at: now }) : row
    },

    /** The columns to write; undefined values leave their column unchanged. */
    changes: (input: Values, ready: Values | undefined): Row => {
      const row = columnsOf(input, ready)
      return facts.timestamps ? Object.assign(row, { updated_at: new Date() }) : row
    },

    /** Whether columns are derived from several fields: only {@link stored} has them. */
    hasJoint: joint.length > 0,

    /**
     * The columns of fields that have the form of the contract, also of those that the service assigns.
     *
     * @param whole the record with these fields
     */
    stored: (record: Values, whole = record): Values => {
      const row: Values = {}
      for (const [field, value] of Object.entries(record)) {
        if (field in columns) row[field] = isDate(field, value) ? new Date(value) : value
      }
      for (const { column, from, make } of makers) {
        if (make !== undefined && record[from] !== undefined) row[column] = make(record[from])
      }
      for (const { column, from, make } of joint) {
        if (from.some((field) => record[field] !== undefined))
          row[column] = make?.(...from.map((field) => whole[field]))
      }
      return row
    },

    /** The record of a row that has every column. */
    present: (row: Values): Values => {
      if (isWhole) return row
      const record: Values = {}
      for (const field of shown) record[field] = row[field]
      return revived(record)
    },

    /** The same, which may be changed. */
    copied: (row: Values): Values => revived(Object.fromEntries(shown.map((field) => [field, row[field]]))),

    revived,

    /** The condition of a list's filters. */
    where: (input: Values): Where<Row> => {
      const conditions: Values = {}
      for (const { filter, by, column, condition } of filters) {
        const value = input[filter]
        if (value === undefined) continue
        conditions[column] = narrowed(conditions[column], by, condition(value))
      }
      // The search names its columns, so it can be the condition of any column that has no other one.
      const { q } = input
      if (typeof q === 'string')
        conditions.id = narrowed(conditions.id, 'contains', {
          ...contains(q, 'q'),
          columns: facts.search.map(searchColumn),
        })
      return conditions as Where<Row>
    },

    /** The condition for those of the records that have one of these ids. */
    among: (where: Where<Row>, ids: number[]): Where<Row> => ({ ...where, id: narrowed(where.id, 'in', ids) as never }),

    keyColumn,

    /** Converts an error of a write: a value already in use by another record, or an id of no record, is a FieldError 409. */
    refused: (error: unknown): unknown => {
      const isTaken = error instanceof UniqueViolation
      if (error instanceof OutsideScope || !(isTaken || error instanceof ReferenceViolation)) return error
      const message = isTaken ? `already in use by another ${facts.one}` : 'must be the id of an existing record'
      const columns = isTaken ? error.columns.slice(0, 1) : error.columns
      const named = columns
        .flatMap((column) => derived[column]?.from ?? column)
        .filter((field) => fields.includes(field))
      if (named.length === 0) return error
      const faults = named.map((field) => ({ path: [field], message }))
      return new FieldError(409, faults, { reason: isTaken ? 'taken' : 'reference_missing' })
    },
  }
}

const MIN_WORD = 2

/** @throws FieldError 400 for a word that is too short once its letters are folded */
function contains(text: string, filter: string): Contains {
  const words = searchKey(text).split(' ')
  if (words.every((word) => [...word].length >= MIN_WORD)) return { words }
  throw new FieldError(400, [{ path: [filter], message: 'must be words of at least 2 characters' }])
}

/** Combines the condition of a column with another one. */
function narrowed(before: unknown, by: FilterFacts['by'], value: unknown): unknown {
  if (before === undefined && by === 'value') return value
  const isRange = typeof before === 'object' && before !== null && !(before instanceof Date)
  const range: Range<unknown> = isRange ? before : before === undefined ? {} : { in: [before] }
  if (by !== 'value' && by !== 'in') return { ...range, [by]: value }
  const values = (by === 'in' ? value : [value]) as unknown[]
  const known = new Set(values)
  return { ...range, in: range.in?.filter((each) => known.has(each)) ?? values }
}
