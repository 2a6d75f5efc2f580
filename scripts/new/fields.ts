import { or } from '../../packages/contract/src/words.ts'

/** Invalid arguments; the message is shown to the user. */
export class UsageError extends Error {}

type Value = string | number | boolean

/** A field of a new resource. */
export interface Field {
  /** Name in the contract and in the table: `user_id` for a reference `user`. */
  name: string
  /** Source code of its schema in the contract. */
  schema: string
  /** Helpers of the contract that the source code uses. */
  helpers: string[]
  /** Its type in schema.prisma. */
  column: string
  filters: 'none' | 'value' | 'range'
  /** Whether lists can be searched for words of it; the table then has a column with its search key. */
  searched?: boolean
  /** What summaries do with it: group records by its values, or compute their range and mean. */
  summarized?: 'group' | 'measure'
  nullable: boolean
  unique: boolean
  /** Whether only rules of the collection set it. */
  readOnly?: boolean
  /** Value when the field is absent on create. */
  default?: Value | null
  /** Value of the records that exist when the field is added. */
  existing?: Value
  /** Two valid values, in ascending order. */
  values: [Value, Value]
  /** An invalid value. */
  invalid: Value
  /** The relation of a reference. */
  relation?: { name: string; collection: string; onDelete: 'Restrict' | 'Cascade' }
}

type Kind = Pick<
  Field,
  'schema' | 'helpers' | 'column' | 'filters' | 'searched' | 'summarized' | 'values' | 'invalid'
> & {
  /** Parses a default. Returns undefined for invalid text. */
  read: (text: string) => Value | undefined
}

/** The column with a field's text in the form of `searchKey`. */
export const searchKeyOf = ({ name }: Field) => `${name}_key`

const NAME = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/
// Names that every record, write or list already uses, and the system columns of PostgreSQL.
const RESERVED =
  /^(?:ctid|xmin|xmax|cmin|cmax|tableoid|id|version|created_at|updated_at|idempotency_key|if_version|page|limit|sort|after|count|q|by|of|prefix|envelope|constructor)$/
const INT = { min: -(2 ** 31), max: 2 ** 31 - 1 }
const DECIMAL = { min: -1e12, max: 1e12 }

const KINDS: Record<string, (range: string | undefined) => Kind> = {
  text: () => ({
    schema: 'text(1, 200)',
    helpers: ['text'],
    column: 'String',
    filters: 'none',
    searched: true,
    values: ['First', 'Second'],
    invalid: '',
    read: (text) => (text.trim() === text && text !== '' && [...text].length <= 200 ? text : undefined),
  }),
  int: (range) => {
    const { min, max } = boundsOf(range, INT)
    if (!Number.isInteger(min) || !Number.isInteger(max)) throw new UsageError('bounds of an int must be integers.')
    return number('whole', 'Int', min, max, min > INT.min ? min - 1 : max + 1, Number.isInteger)
  },
  decimal: (range) => {
    const { min, max } = boundsOf(range, DECIMAL)
    return number('decimal', 'Float', min, max, min > DECIMAL.min ? min - 1 : max + 1, Number.isFinite)
  },
  bool: () => ({
    schema: "z.boolean(must('true or false'))",
    helpers: ['must'],
    column: 'Boolean',
    filters: 'value',
    values: [false, true],
    invalid: 'perhaps',
    read: (text) => ({ true: true, false: false })[text],
  }),
  date: () => ({
    schema: 'date()',
    helpers: ['date'],
    column: 'String',
    filters: 'range',
    values: ['2026-01-31', '2026-02-28'],
    invalid: '2026-02-30',
    read: (text) => (isTime(`${text}T00:00:00.000Z`) ? text : undefined),
  }),
  time: () => ({
    schema: 'moment',
    helpers: ['moment'],
    column: 'DateTime',
    filters: 'range',
    values: ['2026-01-31T08:30:00.000Z', '2026-02-28T08:30:00.000Z'],
    invalid: '2026-02-30T08:30:00.000Z',
    read: (text) => (isTime(text) ? text : undefined),
  }),
}

export const SYNTAX = `A field is name:type. Types:
  text              1 to 200 characters
  int, decimal      a number; with bounds: int:1..1000, decimal:0..
  bool              true or false
  date, time        2026-01-31, or 2026-01-31T08:30:00.000Z
  open|closed       one of these words
  ref:users         the id of a user; user:ref:users creates the field user_id.
                    With :cascade, deleting the user deletes the record; otherwise the delete is rejected.
Options after the type:
  :unique           no two records have the same value
  :readonly         only a rule sets it: needs ? or a default, which new records have without one
  ?                 nullable and optional
  =open             default value
Quote special characters of the shell: 'status:open|closed=open' 'note:text?'`

/**
 * Parses a field: `quantity:int:1..1000=1`.
 *
 * @throws UsageError for invalid text
 */
export function parseField(text: string): Field {
  try {
    return readField(text)
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`${text}: ${error.message}`) : error
  }
}

function readField(text: string): Field {
  const [, declared = '', initial] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? []
  const nullable = declared.includes('?')
  const [name = '', ...options] = declared.replace('?', '').split(':')
  const [unique, cascade, readOnly] = ['unique', 'cascade', 'readonly'].map((word) => options.slice(1).includes(word))
  const [type = '', argument, ...others] = options.filter(
    (word, at) => at === 0 || !/^(?:unique|cascade|readonly)$/.test(word),
  )
  if (!NAME.test(name) || type === '')
    throw new UsageError('a field must be name:type, with a lowercase name such as due_date.')
  if (RESERVED.test(name)) throw new UsageError(`${name} is a reserved name.`)
  if (others.length > 0) throw new UsageError(`unexpected "${others[0]}"; see npm run new -- --help.`)
  if (readOnly && !nullable && initial === undefined)
    throw new UsageError('a read-only field needs ? or a default, because no request sets it.')
  const flags = { nullable, unique: unique === true, ...(readOnly && { readOnly }) }
  if (type === 'ref') {
    if (argument === undefined) throw new UsageError('a reference must name a collection, such as ref:users.')
    if (initial !== undefined) throw new UsageError('a reference cannot have a default.')
    if (unique) throw new UsageError('a reference cannot be unique.')
    return { ...reference(name, argument, cascade ? 'Cascade' : 'Restrict', nullable), ...flags }
  }
  if (cascade) throw new UsageError('only a reference can cascade.')
  const { read, ...kind } = kindOf(type, argument)
  if (initial === undefined) return { name, ...kind, ...flags, ...(nullable && { default: null }) }
  const value = read(initial)
  if (value === undefined) throw new UsageError(`the default "${initial}" is not a valid ${name}.`)
  return { name, ...kind, ...flags, default: value }
}

function kindOf(type: string, argument: string | undefined): Kind {
  if (type.includes('|') && argument === undefined) return choice(type.split('|'))
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined
  if (kind === undefined) {
    throw new UsageError(
      `unknown type "${type}"; must be one of ${Object.keys(KINDS).join(', ')}, ref:users or open|closed.`,
    )
  }
  if (argument !== undefined && type !== 'int' && type !== 'decimal') {
    throw new UsageError(`"${argument}" cannot follow ${type}; see npm run new -- --help.`)
  }
  return kind(argument)
}

function choice(values: string[]): Kind {
  if (!values.every((value) => /^[\w-]+$/.test(value)) || new Set(values).size < values.length) {
    throw new UsageError('choices must be distinct words, such as open|closed.')
  }
  const [first = '', second = ''] = values
  let invalid = `not-${first}`
  while (values.includes(invalid)) invalid = `not-${invalid}`
  return {
    schema: `z.enum(${JSON.stringify(values)}, must(${JSON.stringify(or(values))}))`,
    helpers: ['must'],
    column: 'String',
    filters: 'value',
    summarized: 'group',
    values: [first, second],
    invalid,
    read: (text) => (values.includes(text) ? text : undefined),
  }
}

function reference(name: string, collection: string, onDelete: 'Restrict' | 'Cascade', nullable: boolean) {
  return {
    name: `${name}_id`,
    schema: `reference(${JSON.stringify(collection)})`,
    helpers: ['reference'],
    column: 'Int',
    filters: 'value' as const,
    values: [1, 1] as [number, number],
    invalid: 'none',
    relation: { name, collection, onDelete },
    ...(nullable && { default: null }),
  }
}

function number(
  helper: string,
  column: string,
  min: number,
  max: number,
  invalid: number,
  isOne: (value: unknown) => boolean,
): Kind {
  const step = isOne(0.5) ? Math.min(1, (max - min) / 2) : Math.min(1, max - min)
  const first = Math.max(min, Math.min(1, max - step))
  return {
    schema: `${helper}(${written(min)}, ${written(max)})`,
    helpers: [helper],
    column,
    filters: 'range',
    summarized: 'measure',
    // A sum of decimals is inexact: 0.8 + 0.1 exceeds 0.9.
    values: [first, Math.min(first + step, max)],
    invalid,
    read: (text) => {
      const value = text.trim() === '' ? Number.NaN : Number(text)
      return isOne(value) && value >= min && value <= max ? value : undefined
    },
  }
}

/** `1e12` rather than `1000000000000`. */
const written = (value: number) => String(value).replace(/0{6,}$/, ({ length }) => `e${length}`)

/** Parses `1..1000`, `0..` or `..10`. A missing bound is that of `widest`. */
function boundsOf(range: string | undefined, widest: { min: number; max: number }) {
  if (range === undefined) return widest
  const [, from, to] = /^(-?\d+(?:\.\d+)?)?\.\.(-?\d+(?:\.\d+)?)?$/.exec(range) ?? []
  const [min, max] = [Number(from ?? widest.min), Number(to ?? widest.max)]
  if (from === undefined && to === undefined) throw new UsageError('bounds must have the form 1..1000, 0.. or ..10.')
  if (min < widest.min || max > widest.max || min >= max) {
    throw new UsageError(`bounds ${min}..${max} must be ascending and within ${widest.min}..${widest.max}.`)
  }
  return { min, max }
}

/** Whether the text is an existing time in the service's format. */
function isTime(text: string): boolean {
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && time.toISOString() === text
}
