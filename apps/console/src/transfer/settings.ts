import {
  assignColumns,
  findDecimalComma,
  guessColumns,
  ID,
  importFields,
  type Layout,
  type Mode,
  numberTexts,
  type Row,
  recordOf,
  requiredFields,
  rowReader,
  targetOf,
  withDecimalPoint,
} from '@resource/import'
import type { Resource } from '../resources/resource.ts'
import type { Table } from './table.ts'

const CREATE: Mode = { action: 'create', key: ID }

/** The fields that columns can be in a mode, with their labels. */
export function columnFields({ noun, createFields, keys }: Resource, mode: Mode) {
  const labelOf = (name: string) => [...keys, ...createFields].find((field) => field.name === name)?.label ?? name
  // The id of a new record is ignored, but decides whether its row can be an update.
  const fields = importFields(targetOf(noun), mode.action === 'create' ? undefined : mode)
  return fields
    .filter(({ name }) => name !== 'if_version' || mode.action !== 'create')
    .map((field) => ({ ...field, label: labelOf(field.name) }))
}

/** The modes that are possible with these columns. */
export function modesOf({ noun }: Resource, columns: Layout['columns']): Mode[] {
  const mapped = targetOf(noun).keys.filter((name) => Object.values(columns).includes(name))
  return [
    CREATE,
    ...mapped.flatMap((key): Mode[] => [
      { action: 'update', key },
      { action: 'upsert', key },
    ]),
  ]
}

/** Guesses the settings of a file. A file with ids, such as an export, updates its records. */
export function guessSettings(resource: Resource, { columns: names, rows, ...table }: Table): Layout {
  const named = recordOf([...assignColumns(targetOf(resource.noun), undefined, names)])
  const columns = withNumbers(resource, rows, names, named)
  const idColumn = names.find((column) => columns[column] === ID)
  const ids = rows.filter(({ source }) => idColumn !== undefined && !isBlank(source[idColumn])).length
  const action = ids === 0 ? 'create' : ids === rows.length ? 'update' : 'upsert'
  const decimalComma = guessDecimal(resource, { ...table, columns: names, rows }, columns)
  return { mode: { action, key: ID }, columns, decimalComma, emptyIsNull: false }
}

/** A required number without a column has the only other column of mostly numbers, until the user decides. */
function withNumbers({ noun }: Resource, rows: Table['rows'], names: string[], columns: Layout['columns']) {
  const target = targetOf(noun)
  const required = requiredFields(target, CREATE).filter((name) => !Object.values(columns).includes(name))
  const wanted = importFields(target).filter(({ name, kind }) => kind === 'number' && required.includes(name))
  const found = names.filter((column) => {
    const values = rows.map(({ source }) => source[column]).filter((value) => !isBlank(value))
    return columns[column] === undefined && values.filter(isNumber).length * 2 > values.length
  })
  const [field, column] = [wanted[0], found[0]]
  if (wanted.length !== 1 || found.length !== 1 || field === undefined || column === undefined) return columns
  return recordOf([...Object.entries(columns), [column, field.name]])
}

function isNumber(value: unknown): boolean {
  return Number.isFinite(Number(withDecimalPoint(String(value).trim()) ?? value))
}

/** Whether each column has the name of its field, so that there is nothing to decide. */
export function isObvious(resource: Resource, table: Table, { mode, columns }: Layout): boolean {
  const isNamed = (column: string) => columns[column] === column || columns[column] === null
  const hasComma = findDecimalComma(numbersOf(resource, table, columns)) !== undefined
  return table.columns.every(isNamed) && !hasComma && missingFields(resource, { mode, columns }).length === 0
}

/** Guesses the decimal mark. If it is ambiguous, the rows have errors until the user chooses the comma. */
export function guessDecimal(resource: Resource, table: Table, columns: Layout['columns']): boolean {
  const comma = findDecimalComma(numbersOf(resource, table, columns))
  return comma !== undefined && !comma.isAmbiguous
}

/** The texts of number fields, in which a comma can be a decimal mark. */
export function numbersOf({ noun }: Resource, { format, rows }: Table, columns: Layout['columns']): string[] {
  if (format !== 'csv') return []
  const sources = rows.map(({ source }) => source)
  return numberTexts(targetOf(noun), columns, sources)
}

/** Whether a column has passwords: by its field or, because ignored columns are kept too, by its name. */
export function hasSecrets({ noun }: Resource, { columns: names }: Table, { columns }: Layout): boolean {
  const secret = importFields(targetOf(noun)).filter(({ isSecret }) => isSecret)
  const isSecret = (column: string) =>
    secret.some(({ name }) => name === columns[column]) || guessColumns([column], secret).size > 0
  return names.some(isSecret)
}

/** The labels of the required fields without a column. */
export function missingFields(resource: Resource, { mode, columns }: Pick<Layout, 'mode' | 'columns'>): string[] {
  const missing = requiredFields(targetOf(resource.noun), mode).filter((name) => !Object.values(columns).includes(name))
  return columnFields(resource, mode).flatMap(({ name, label }) => (missing.includes(name) ? [label] : []))
}

/** Converts the rows of a file to records, and validates each against the contract. */
export function checkRows({ noun }: Resource, table: Table, settings: Layout): Row[] {
  const target = targetOf(noun)
  // A column without a field is left out until the user decides.
  const columns = recordOf(
    [...table.columns.map((name) => [name, null] as const), ...Object.entries(settings.columns)].map(
      ([name, field]) => [name, field],
    ),
  )
  const rows = table.rows.map(rowReader(target, { ...settings, columns }, table.format))
  const { action, key } = settings.mode
  for (const name of target.keys) if (name !== ID || (action !== 'create' && key === ID)) markDuplicates(rows, name)
  return rows
}

function isBlank(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && value.trim() === '')
}

// The service stores the first of two rows with the same unique value; which one is the user's decision.
function markDuplicates(rows: Row[], name: string) {
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
