import {
  type ErrorForm,
  mutation,
  type Procedure,
  type Procedures,
  query,
  type Resource,
  type RestMeta,
} from '@resource/openapi/contract'
import { factsOf, withValue } from '@resource/openapi/schema'
import { z } from 'zod'
import { type BatchProcedures, batches } from './batches.ts'
import { messageField } from './errors.ts'
import {
  annotationsOf,
  bulk,
  changesOf,
  conditional,
  type Hidden,
  hidden,
  id,
  idempotencyKey,
  isHidden,
  location,
  many,
  message,
  moment,
  must,
  recordId,
  referenceOf,
  searchText,
  stale,
  timestamp,
  version,
  withFieldRole,
  withValueRoles,
  write,
  writeHeaders,
} from './fields.ts'
import { type FilterName, type Filters, filtersOf } from './filters.ts'
import { deleteMany, type ManyProcedures, updateMany } from './many.ts'
import { listInput, pageFacts, pageHeaders, pageOf, searchHeaders } from './pages.ts'
import type { Role } from './roles.ts'
import { type SummaryProcedures, summarize } from './summaries.ts'

type Fields = Record<string, z.ZodType>

/** The record as responses show it: all fields but the hidden ones, without input rules. */
type Shown<F extends Fields> = {
  [K in keyof F as F[K] extends Hidden ? never : K]: z.ZodType<z.output<F[K]>, z.output<F[K]>>
}
type Changeable<F extends Fields> = {
  [K in keyof F]: F[K] extends z.ZodDefault<infer S extends z.ZodType> | z.ZodOptional<infer S extends z.ZodType>
    ? S
    : F[K]
}
/** The fields that a batch can set: no unique and no hidden ones. */
type Shared<F extends Fields, K> = {
  [N in keyof F as F[N] extends Hidden ? never : Exclude<N, K>]: Changeable<F>[N]
}

type Key = { id: typeof recordId }
type Times<T extends boolean> = T extends true
  ? { created_at: typeof timestamp; updated_at: typeof timestamp }
  : Record<never, never>
type PublicRecord<F extends Fields, T extends boolean> = { id: typeof id } & Shown<F> & Times<T>
// Not an alias of the whole object type: comparing two of those takes the compiler five times as long as all the rest.
type Row<F extends Fields, T extends boolean> = PublicRecord<F, T> & { version: typeof version }
type Write = typeof write
type Once = { idempotency_key: typeof idempotencyKey }
type Under<N extends string, S extends z.ZodType> = { [K in N]: S }
/** The fields that filters can name. */
type Filterable<F extends Fields, T extends boolean> = F & Times<T>
/** The schemas of all filters, with `q` if the collection has a search index. */
type Matching<F extends Fields, T extends boolean, L extends string, Q> = Filters<Filterable<F, T>, L> &
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
type Omitted<O> = O | ('delete' extends O ? 'deleteMany' : never)

// biome-ignore lint/suspicious/noExplicitAny: the procedure names do not depend on the type arguments
type Verb = keyof Standard<any, any, any, any, any, any, any, any, any>

/** Overrides for the REST binding of a standard procedure; undefined removes a property. */
type BindingOverrides = { [K in keyof RestMeta]?: RestMeta[K] | undefined }

export interface Declaration<
  N extends string,
  F extends Fields,
  T extends boolean,
  L extends FilterName<Filterable<F, T>>,
  S extends string,
  O extends Verb,
  R extends Fields,
  P extends Procedures,
  Q extends keyof F & string,
  G extends keyof F & string,
  M extends keyof F & string,
  K extends keyof F & string,
> {
  noun: N
  /** The singular noun. Default: the noun without its last letter. */
  one?: string
  description: string
  /**
   * The fields in requests, with their rules. The fields in responses are derived from them, without the `hidden` ones.
   */
  fields: F
  /** Whether the service maintains `created_at` and `updated_at`. */
  timestamps?: T
  /**
   * The filters of lists: `status` by equality, `price_lt` by a bound, `status_in` by several values, `name_contains` by
   * words. Several filters of one field are combined with AND.
   */
  filters?: readonly L[]
  /** The text fields that `q` searches. Each has a column for it: `name_key` for `name`. */
  search?: readonly Q[]
  /** The text and choice fields by which records can be summarized. */
  groups?: readonly G[]
  /** The number fields whose range and mean summaries have. */
  measures?: readonly M[]
  /** The unique text fields that can name a record in an update of many. Each is also a filter by equality. */
  keys?: readonly K[]
  /** The attributes for `sort`. Default: `id`, all visible fields and the timestamps. */
  sort?: readonly S[]
  /**
   * Fields that are filtered or sorted without an index that begins with them, each with the reason. Any other field
   * without an index is an error at startup.
   */
  unindexed?: { [K in keyof F]?: string }
  /** Aliases for fields in `sort`: `{ username: 'name' }`. */
  sortAliases?: Record<string, string>
  /** The fields that PUT accepts. Default: all fields. */
  replace?: R
  /** Standard procedures to omit. */
  omit?: readonly O[]
  /** The required role of a procedure, if it is not the default: `reader` for reads, `writer` for writes. */
  access?: { [V in Verb]?: Role }
  /** The role that changing a field requires once API keys exist. */
  fieldRoles?: { [K in keyof F]?: Role }
  /**
   * The roles that certain values require once API keys exist: to create a record with the value, and to change or delete a
   * record that has it. `{ role: { admin: 'admin' } }`.
   */
  valueRoles?: { [K in keyof F]?: Record<string, Role> }
  errorForm?: ErrorForm
  /** Default: `/orders`, from the noun. */
  path?: `/${string}`
  /** The path parameter for the id. Default: `id`. */
  param?: string
  example?: Record<string, unknown>
  /** Overrides for the REST bindings of standard procedures, and additional bindings. */
  bindings?: (record: z.ZodObject<PublicRecord<F, T>>) => { [V in Verb]?: BindingOverrides }
  /** Procedures in addition to the standard ones. */
  procedures?: (versioned: z.ZodObject<Row<F, T>>, record: z.ZodObject<PublicRecord<F, T>>) => P
}

/** What the service needs to know about a collection, in addition to its procedures. */
export interface CollectionFacts {
  /** The singular noun. */
  one: string
  /** Whether the service maintains `created_at` and `updated_at`. */
  timestamps: boolean
  /** Write-only fields. */
  hidden: readonly string[]
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
  /** The roles that records with certain values require, by field and value. */
  valueRoles: Readonly<Record<string, Readonly<Record<string, Role>>>>
  /** The noun of the referenced collection, by field. */
  references: Readonly<Record<string, string>>
  /** Filters and sorts without an index, each with the reason. */
  unindexed: Readonly<Record<string, string>>
}

/** A resource that is a collection of records. */
export interface CollectionResource<P extends Procedures> extends Resource<P> {
  collection: CollectionFacts
}

/** Declares a collection: a resource with the standard procedures for its fields. */
export function collection<
  const N extends string,
  F extends Fields,
  T extends boolean = false,
  L extends FilterName<Filterable<F, T>> = never,
  S extends string = 'id' | (keyof (Shown<F> & Times<T>) & string),
  O extends Verb = never,
  R extends Fields = F,
  P extends Procedures = Record<never, never>,
  Q extends keyof F & string = never,
  G extends keyof F & string = never,
  M extends keyof F & string = never,
  K extends keyof F & string = never,
>(
  declaration: Declaration<N, F, T, L, S, O, R, P, Q, G, M, K>,
): CollectionResource<Omit<Standard<N, F, T, Matching<F, T, L | K, Q>, S, R, G, M, K>, Omitted<O>> & P> {
  const { noun, fields, description, errorForm = messageField, param = 'id' } = declaration
  const { one = noun.slice(0, -1), path = `/${noun}`, access = {}, sortAliases = {} } = declaration
  const omit: string[] = [...(declaration.omit ?? [])]
  if (omit.includes('delete')) omit.push('deleteMany')
  checkFields(noun, fields)
  const { search = [], groups = [], measures = [], keys = [] } = declaration
  checkSummaries(noun, fields, groups, measures)
  const filterable = { ...fields, ...(declaration.timestamps && { created_at: moment, updated_at: moment }) }
  const filterNames = [...new Set<string>([...(declaration.filters ?? []), ...keys])]
  const filters = filtersOf(noun, filterable as Fields, filterNames, search)
  const matching = {
    ...filters,
    ...(search.length > 0 && { q: searchText.optional().meta({ description: searchDescription(search) }) }),
  } as unknown as Matching<F, T, L | K, Q>
  const [One, Many, a] = [upper(one), upper(noun), `${article(one)} ${one}`]
  nameChoices(One, fields)
  const hidden = Object.keys(fields).filter((name) => isHidden(fields[name] as z.ZodType))
  const shown = Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) =>
      hidden.includes(name) ? [] : [[name, shownAs(field, declaration.example === undefined)]],
    ),
  )
  const times = declaration.timestamps ? { created_at: timestamp, updated_at: timestamp } : {}
  const sort = declaration.sort ?? (['id', ...Object.keys(shown), ...Object.keys(times)] as S[])
  const record = z
    .object({ id, ...shown, ...times })
    .meta({ id: One, ...(declaration.example && { examples: [declaration.example] }) }) as unknown as z.ZodObject<
    PublicRecord<F, T>
  >
  const versioned = record.extend({ version }).meta({ id: `Versioned${One}` }) as unknown as z.ZodObject<Row<F, T>>

  const creation = mapFields(fields, (field, name) => {
    const roles = declaration.valueRoles?.[name]
    return roles === undefined ? field : withValue(field, (inner) => withValueRoles(roles, inner))
  })
  const guarded = (fields: Fields) =>
    mapFields(fields, (field, name) => {
      const role = declaration.fieldRoles?.[name]
      return role === undefined ? field : withValue(field, (inner) => withFieldRole(role, inner))
    })
  const replacement = guarded(declaration.replace ?? fields)
  const changes = guarded(mapFields(fields, withoutDefault))

  const bindings = declaration.bindings?.(record) ?? {}
  const base = path.replace(/\/$/, '') as `/${string}`
  const item: `/${string}` = `${base}/{${param}}`
  const params = { ...(param !== 'id' && { params: { [param]: 'id' } }) }
  const single = { response: record, envelope: one, etag: 'version' }
  const restOf = (verb: Verb, defaults: RestMeta) => ({
    access: access[verb] ?? (defaults.method === 'GET' ? 'reader' : 'writer'),
    meta: { openapi: withOverrides(defaults, bindings[verb]) },
  })

  const nested = (verb: Verb) => (defaults: RestMeta) =>
    withOverrides({ ...defaults, path: `${base}${defaults.path}` }, bindings[verb])
  const names = { noun, One, Many }
  // All records of a batch get the same values, so a batch can set no unique fields and no passwords.
  const sharedChanges = Object.fromEntries(
    Object.entries(changes).filter(([name]) => !hidden.includes(name) && !(keys as readonly string[]).includes(name)),
  )

  const creationDescription = fieldsDescription(fields, (name, value) => `${name} defaults to ${value}`)
  const standard = {
    list: query({
      input: listInput(matching, sort),
      output: z.object({ [noun]: z.array(versioned), ...pageFacts }),
      ...restOf('list', {
        method: 'GET',
        path,
        operationId: `list${Many}`,
        summary: `List ${noun}`,
        description: listDescription(Object.keys(matching)),
        successDescription: `A page of ${noun}.`,
        responseBody: noun,
        response: pageOf(record),
        envelope: noun,
        headers: search.length > 0 ? searchHeaders : pageHeaders,
      }),
    }),
    get: query({
      description: `Returns the ${one} with its version. A write with \`if_version\` changes only this version of it.`,
      input: z.object({ id: recordId }),
      output: versioned,
      errors: [404],
      ...restOf('get', {
        ...params,
        ...single,
        method: 'GET',
        path: item,
        operationId: `get${One}`,
        summary: `Get ${a}`,
        description:
          'The `ETag` header identifies the version. Send it as `If-Match` to change only this version of the record.',
        successDescription: `The ${one}.`,
      }),
    }),
    create: mutation({
      description: creationDescription,
      input: z.object({ ...creation, idempotency_key: idempotencyKey }),
      output: versioned,
      errors: [409],
      ...restOf('create', {
        ...single,
        method: 'POST',
        path,
        operationId: `create${One}`,
        summary: `Create ${a}`,
        description: creationDescription,
        successDescription: `The created ${one}.`,
        status: 201,
        headerParams: writeHeaders,
        headers: location(`${base}/{id}`),
      }),
    }),
    createMany: mutation({
      input: z.object({
        [noun]: many(z.object(creation, must('an object')).meta({ id: `${One}Create` }), noun),
        idempotency_key: idempotencyKey,
      }),
      output: z.object({ [noun]: z.array(versioned) }),
      errors: [409],
      ...restOf('createMany', {
        ...bulk(noun),
        method: 'POST',
        path: `${base}/bulk`,
        operationId: `create${Many}`,
        summary: `Create many ${noun}`,
        response: pageOf(record),
      }),
    }),
    replace: mutation({
      input: z.object({ id: recordId, ...replacement, ...write }),
      output: versioned,
      errors: [404, 409],
      errorData: stale,
      ...restOf('replace', {
        ...params,
        ...single,
        ...conditional,
        method: 'PUT',
        path: item,
        operationId: `replace${One}`,
        summary: `Replace ${a}`,
        description: fieldsDescription(fields, (name, value) => `${name} is reset to ${value} if omitted`),
        successDescription: `The replaced ${one}.`,
      }),
    }),
    update: mutation({
      input: changesOf(changes),
      output: versioned,
      errors: [404, 409],
      errorData: stale,
      ...restOf('update', {
        ...params,
        ...single,
        ...conditional,
        method: 'PATCH',
        path: item,
        operationId: `update${One}`,
        summary: `Update ${a}`,
        description: 'Changes only the fields that are sent.',
        successDescription: `The updated ${one}.`,
      }),
    }),
    delete: mutation({
      input: z.object({ id: recordId, ...write }),
      output: message,
      errors: [404, 409],
      errorData: stale,
      ...restOf('delete', {
        ...params,
        ...conditional,
        method: 'DELETE',
        path: item,
        operationId: `delete${One}`,
        summary: `Delete ${a}`,
        description: 'The id is never reused.',
        successDescription: `The ${one} was deleted.`,
        status: 204,
      }),
    }),
    summarize: summarize(
      { ...names, filters: matching, groups, measures, access: access.summarize ?? 'reader' },
      nested('summarize'),
    ),
    updateMany: updateMany(
      { ...names, access: access.updateMany ?? 'writer', fields: changes, record: versioned, keys },
      nested('updateMany'),
    ),
    deleteMany: deleteMany({ ...names, access: access.deleteMany ?? access.delete ?? 'writer' }, nested('deleteMany')),
    ...batches(
      {
        ...names,
        base,
        filters: matching,
        fields: sharedChanges,
        record,
        access: {
          update: access.updateMany ?? 'writer',
          delete: omit.includes('deleteMany') ? undefined : 'admin',
        },
      },
      (verb, defaults) => nested(verb)(defaults),
    ),
  }
  const procedures = {
    ...Object.fromEntries(Object.entries(standard).filter(([verb]) => !omit.includes(verb))),
    ...declaration.procedures?.(versioned, record),
  }
  return {
    tag: Many,
    description: [description, ...recordRoles(one, declaration.valueRoles)].join(' '),
    errorForm,
    lookup: 'get' as never,
    collection: {
      one,
      timestamps: declaration.timestamps ?? false,
      hidden,
      sortAliases,
      filters: Object.keys(filters),
      search,
      groups,
      measures,
      keys,
      sort: [...new Set(sort.map((name) => sortAliases[name] ?? name))],
      valueRoles: (declaration.valueRoles ?? {}) as Record<string, Record<string, Role>>,
      references: referencesOf(fields),
      unindexed: (declaration.unindexed ?? {}) as Record<string, string>,
    },
    // Matches `standard` key by key, but TypeScript does not track computed keys.
    procedures: procedures as never,
  }
}

/** @throws Error if a field rejects its own default, or is visible and optional */
function checkFields(noun: string, fields: Fields): void {
  for (const [name, field] of Object.entries(fields)) {
    const { isOptional, initial, value } = factsOf(field)
    if (isOptional && initial === undefined && !isHidden(field)) {
      throw new Error(
        `${noun}: ${name} is optional; declare the value to store if it is omitted, such as .nullable().default(null)`,
      )
    }
    if (initial === undefined) continue
    const { error } = value.safeParse(initial)
    if (error === undefined) continue
    throw new Error(`${noun}: the default of ${name}, ${JSON.stringify(initial)}, ${error.issues[0]?.message}`)
  }
}

/** @throws Error if records are grouped by a field that is not text, or measured by one that is not a number */
function checkSummaries(noun: string, fields: Fields, groups: readonly string[], measures: readonly string[]): void {
  const typeOf = (name: string) => factsOf(fields[name] as z.ZodType).type
  const group = groups.find((name) => !['string', 'enum'].includes(typeOf(name)))
  if (group !== undefined)
    throw new Error(`${noun}: records cannot be grouped by ${group}: it must be text or a choice`)
  const measure = measures.find((name) => !['number', 'integer'].includes(typeOf(name)))
  if (measure !== undefined) throw new Error(`${noun}: ${measure} cannot be a measure: it must be a number`)
}

// The ends of the names of a collection's other schemas.
const TAKEN = new Set(['Batch', 'Change', 'Changes', 'Create', 'Filter', 'Result', 'Summary'])

// The values of named choices, as constants of generated code: Go has those of all choices in one namespace.
const constants = new Set<string>()

/**
 * Names the fields that are a choice in the document: `UserRole`. Some generators for clients do not declare a choice
 * without a name if a body with it has further conditions. A choice that shares a value with a named one has no name.
 */
function nameChoices(One: string, fields: Fields): void {
  for (const [name, field] of Object.entries(fields)) {
    const { core: choice, choices } = factsOf(field)
    const end = name.split('_').map(upper).join('')
    if (choices === undefined || choice.meta()?.id !== undefined || TAKEN.has(end)) continue
    const values = choices.map((value) =>
      String(value)
        .toUpperCase()
        .replace(/[^A-Z0-9]/g, ''),
    )
    if (values.some((value) => constants.has(value))) continue
    for (const value of values) constants.add(value)
    // Not `meta`, which returns a copy: other procedures have the same schema.
    choice.register(z.globalRegistry, { ...choice.meta(), id: `${One}${end}` })
  }
}

function searchDescription(search: readonly string[]): string {
  return `Only records that contain every word, in ${joined([...search]).replace(/ and ([^ ]*)$/, ' or $1')}, ignoring case and how accents are composed. A word of 2 characters matches the beginning of a word, a longer one any part of a field; in Korean and in scripts without spaces, such as Chinese, 2 characters match any part.`
}

function referencesOf(fields: Fields): Record<string, string> {
  const found = Object.entries(fields).map(([name, field]) => [name, referenceOf(field)] as const)
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

function mapFields<F extends Fields>(fields: F, map: (field: z.ZodType, name: keyof F) => z.ZodType): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, map(field, name)]))
}

function withoutDefault(field: z.ZodType): z.ZodType {
  const { isOptional, value } = factsOf(field)
  return isOptional && isHidden(field) ? hidden(value) : value
}

/**
 * The schema of a field in responses: its type, without rules that older stored values might break. A whole number keeps
 * its bounds, because client generators choose the integer type by them.
 *
 * @param withExamples whether to keep the examples
 */
function shownAs(field: z.ZodType, withExamples: boolean): z.ZodType {
  const shown = bareOf(field)
  const { examples } = field.meta() ?? {}
  return withExamples && examples !== undefined ? shown.meta({ ...annotationsOf(shown), examples }) : shown
}

function bareOf(field: z.ZodType): z.ZodType {
  const { type, format, isNullable, value } = factsOf(field)
  const shown =
    type === 'number'
      ? z.number()
      : type !== 'string'
        ? undefined
        : format === 'date'
          ? z.iso.date()
          : format === 'datetime'
            ? timestamp
            : z.string()
  return shown === undefined ? value : isNullable ? shown.nullable() : shown
}

function withOverrides(defaults: RestMeta, overrides: BindingOverrides = {}): RestMeta {
  const all = { ...defaults, ...overrides }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as unknown as RestMeta
}

function listDescription(filters: string[]): string {
  if (filters.length === 0) return 'Sort with `sort`.'
  return `Filter with ${joined(filters.map((name) => `\`${name}\``))}; sort with \`sort\`.`
}

const COUNTED = ['', 'The field is', 'Both fields are', 'All three fields are', 'All four fields are']

function fieldsDescription(fields: Fields, rule: (name: string, value: string) => string): string {
  const defaults = Object.entries(fields).flatMap(([name, field]) => {
    const { initial } = factsOf(field)
    return initial === undefined ? [] : [rule(`\`${name}\``, initial === null ? 'null' : `\`${initial}\``)]
  })
  if (defaults.length > 0) return `${defaults.join('; ')}.`
  return `${COUNTED[Object.keys(fields).length] ?? 'All fields are'} required.`
}

function joined(words: string[]): string {
  return words.join(', ').replace(/, ([^,]*)$/, ' and $1')
}

/** A sentence for each value whose records only some roles may change or delete. */
function recordRoles(one: string, valueRoles: Record<string, Record<string, Role> | undefined> = {}): string[] {
  return Object.entries(valueRoles).flatMap(([field, roles = {}]) =>
    Object.entries(roles).map(
      ([value, role]) =>
        `Once API keys exist, changing or deleting ${article(one)} ${one} whose \`${field}\` is \`${value}\` requires the role \`${role}\`.`,
    ),
  )
}

const upper = (word: string) => word.replace(/^./, (letter) => letter.toUpperCase())
// `an item`, but `a user`, `a unit`.
const article = (word: string) => (/^(?:[aeio]|u(?!s|ni))/.test(word) ? 'an' : 'a')
