import { findDecimalComma, withDecimalPoint } from '@resource/contract/decimal-comma'
import { type Field, parseInput } from '../resources/field.ts'
import type { Resource } from '../resources/resource.ts'
import { guessMapping, type Mapping } from './mapping.ts'
import type { Table } from './table.ts'
import type { TableRow } from './table-row.ts'

/** Whether rows create records, update the records that a field identifies, or do both. */
export interface Mode {
  action: 'create' | 'update' | 'upsert'
  /** The field that identifies a record. */
  key: string
}

/** How the columns of a file become records. */
export interface Settings {
  mode: Mode
  mapping: Mapping
  decimal: '.' | ','
}

/** A row of a file before it is sent. */
export interface SourceRow {
  /** Line in the file, from 1. */
  line: number
  /** The values in the file; they go into the file of remaining rows. */
  raw: Record<string, unknown>
  /** The input for the service. */
  record: Record<string, unknown>
  /** Validation errors; empty if none were found. */
  errors: string[]
}

const CREATE: Mode = { action: 'create', key: 'id' }

/** The fields that columns can have. */
export function importFields({ createFields, keys }: Resource): Field[] {
  return [...keys.filter(({ name }) => name === 'id'), ...createFields]
}

/** The modes that are possible with these columns. */
export function modesOf({ keys }: Resource, mapping: Mapping): Mode[] {
  const mapped = keys.filter(({ name }) => Object.values(mapping).includes(name))
  return [
    CREATE,
    ...mapped.flatMap(({ name: key }): Mode[] => [
      { action: 'update', key },
      { action: 'upsert', key },
    ]),
  ]
}

/** Guesses the settings of a file. A file with ids, such as an export, updates its records. */
export function guessSettings(resource: Resource, table: Table): Settings {
  const fields = importFields(resource)
  const mapping = guessMapping(table.columns, fields, [`${resource.one}_id`, `${resource.many}_id`])
  const idColumn = table.columns.find((column) => mapping[column] === 'id')
  const hasId = ({ values }: TableRow) => idColumn !== undefined && !isBlank(values[idColumn])
  const ids = table.rows.filter(hasId).length
  const action = ids === 0 ? 'create' : ids === table.rows.length ? 'update' : 'upsert'
  return { mode: { action, key: 'id' }, mapping, decimal: guessDecimal(resource, table, mapping) }
}

/** Guesses the decimal mark. If it is ambiguous, the rows have errors until the user chooses the comma. */
export function guessDecimal(resource: Resource, table: Table, mapping: Mapping): Settings['decimal'] {
  const comma = findDecimalComma(numbersOf(resource, table, mapping))
  return comma === undefined || comma.isAmbiguous ? '.' : ','
}

/** The texts of number fields, in which a comma can be a decimal mark. */
export function numbersOf(resource: Resource, { form, rows }: Table, mapping: Mapping): string[] {
  if (form !== 'csv') return []
  const numeric = importFields(resource)
    .filter(({ kind }) => kind === 'number')
    .map(({ name }) => name)
  const columns = Object.keys(mapping).filter((column) => numeric.includes(mapping[column] as string))
  return rows.flatMap(({ values }) => columns.map((column) => String(values[column] ?? '').trim()))
}

/** Whether a column has passwords: by its field or, because ignored columns are kept too, by its name. */
export function hasSecrets(resource: Resource, { columns }: Table, { mapping }: Settings): boolean {
  const secret = importFields(resource).filter(({ kind }) => kind === 'password')
  const isSecret = (column: string) =>
    secret.some(({ name }) => name === mapping[column]) || Object.keys(guessMapping([column], secret, [])).length > 0
  return columns.some(isSecret)
}

/** The required fields without a column. */
export function missingFields(resource: Resource, { mode, mapping }: Settings): Field[] {
  const mapped = Object.values(mapping)
  const required = mode.action === 'create' ? resource.createFields.filter(({ isRequired }) => isRequired) : []
  return required.filter(({ name }) => !mapped.includes(name))
}

/** Converts the rows of a file to records, and validates each against the contract. */
export function checkRows(resource: Resource, table: Table, settings: Settings): SourceRow[] {
  const { mode, mapping, decimal } = settings
  const columns = importFields(resource).flatMap((field) => {
    const column = table.columns.find((name) => mapping[name] === field.name)
    return column === undefined || !isSent(field.name, mode) ? [] : [{ field, column }]
  })
  const rows = table.rows.map(({ line, values, error }): SourceRow => {
    const record: Record<string, unknown> = {}
    for (const { field, column } of columns) {
      const value = cellValue(field, values[column], table, decimal)
      if (value !== undefined) record[field.name] = value
    }
    return {
      line,
      raw: values,
      record,
      errors: [...(error === undefined ? [] : [error]), ...errorsOf(resource, record, mode)],
    }
  })
  for (const { field } of columns) if (isUnique(field, mode)) markDuplicates(rows, field.name)
  return rows
}

/** Whether rows have the field; a new record gets its id from the service. */
export function isSent(name: string | undefined, { action, key }: Mode): boolean {
  return name !== undefined && (name !== 'id' || (action !== 'create' && key === 'id'))
}

function cellValue(field: Field, given: unknown, { form }: Table, decimal: Settings['decimal']): unknown {
  if (form !== 'csv' || given === undefined) return given
  // A password may consist of spaces only.
  if (isBlank(given) && field.kind !== 'password') return undefined
  const text = String(given)
  if (field.kind !== 'number' || field.isList || decimal === '.') return parseInput(field, text)
  const number = withDecimalPoint(text.trim())
  return number === undefined ? text : parseInput(field, number)
}

function isBlank(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && value.trim() === '')
}

function errorsOf({ createFields, keys }: Resource, record: Record<string, unknown>, { action, key }: Mode): string[] {
  const isNew = action === 'create' || (action === 'upsert' && record[key] === undefined)
  const keyField = keys.filter(
    ({ name }) => !isNew && name === key && !createFields.some((field) => field.name === key),
  )
  return [...keyField, ...createFields].flatMap(({ name, schema }) => {
    const value = record[name]
    // The service requires more of a record that an update creates.
    if (value === undefined && !isNew && name !== key) return []
    const parsed = schema.safeParse(value)
    if (parsed.success) return []
    return `${name}: ${value === undefined ? 'is required' : parsed.error.issues[0]?.message}`
  })
}

function isUnique({ name, kind }: Field, { action, key }: Mode): boolean {
  return kind === 'email' || (action !== 'create' && name === key)
}

// The service stores the first of two rows with the same unique value; which one is the user's decision.
function markDuplicates(rows: SourceRow[], name: string) {
  const first = new Map<string, number>()
  for (const { line, record, errors } of rows) {
    if (record[name] === undefined) continue
    const value = String(record[name]).toLowerCase()
    const earlier = first.get(value)
    if (earlier === undefined) first.set(value, line)
    else errors.push(`${name}: already in line ${earlier}`)
  }
}

/** `Import` or `Update`: what the rows do, for a button. */
export function modeLabel({ action }: Mode): string {
  return { create: 'Import', update: 'Update', upsert: 'Import or update' }[action]
}

export function modeDescription({ many, keys }: Resource, { action, key }: Mode): string {
  const label = keys.find(({ name }) => name === key)?.label ?? key
  if (action === 'create') return `Create new ${many}`
  return action === 'update' ? `Update ${many} by ${label}` : `Update ${many} by ${label}, create the others`
}
