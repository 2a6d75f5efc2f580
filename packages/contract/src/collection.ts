import {
  type ErrorForm,
  mutation,
  type Procedure,
  type Procedures,
  query,
  type Resource,
  type RestMeta,
  type Role,
} from '@resource/openapi/contract'
import { z } from 'zod'
import { messageField } from './errors.ts'
import {
  bulk,
  changedBy,
  changesOf,
  conditional,
  givenBy,
  type Hidden,
  hidden,
  id,
  idempotencyKey,
  isHidden,
  location,
  many,
  message,
  must,
  recordId,
  referenceOf,
  stale,
  timestamp,
  version,
  write,
  writeHeaders,
} from './fields.ts'
import { bare, type FilterName, type Filters, filtersOf } from './filters.ts'
import { listInput, pageFacts, pageHeaders, pageOf } from './pages.ts'

type Fields = Record<string, z.ZodType>

/** What a field holds, without the rules for who sends it. */
type Shown<F extends Fields> = {
  [K in keyof F as F[K] extends Hidden ? never : K]: z.ZodType<z.output<F[K]>, z.output<F[K]>>
}
type Changeable<F extends Fields> = {
  [K in keyof F]: F[K] extends z.ZodDefault<infer S extends z.ZodType> | z.ZodOptional<infer S extends z.ZodType>
    ? S
    : F[K]
}

type Key = { id: typeof recordId }
type Times<T extends boolean> = T extends true
  ? { created_at: typeof timestamp; updated_at: typeof timestamp }
  : Record<never, never>
type PublicRecord<F extends Fields, T extends boolean> = { id: typeof id } & Shown<F> & Times<T>
// Not as an alias of the whole object: to compare two of those would cost the compiler five times the rest.
type Row<F extends Fields, T extends boolean> = PublicRecord<F, T> & { version: typeof version }
type Write = typeof write
type Once = { idempotency_key: typeof idempotencyKey }
type Under<N extends string, S extends z.ZodType> = { [K in N]: S }

/** The standard procedures of a collection. The published client has the words of each resource in their place. */
export interface Standard<
  N extends string,
  F extends Fields,
  T extends boolean,
  L extends z.ZodRawShape,
  S extends string,
  R extends Fields,
> {
  /** Lists the records: a page of those that match, in the order `sort` says. */
  list: Procedure<
    'query',
    ReturnType<typeof listInput<L, S>>,
    z.ZodObject<Under<N, z.ZodArray<z.ZodObject<Row<F, T>>>> & typeof pageFacts>
  >
  /** Gets one record. */
  get: Procedure<'query', z.ZodObject<Key>, z.ZodObject<Row<F, T>>>
  /** Creates a record. */
  create: Procedure<'mutation', z.ZodObject<F & Once>, z.ZodObject<Row<F, T>>>
  /** Creates 1 to 1,000 records, all or none, answered in the order sent. An error names the index and the field. */
  createMany: Procedure<
    'mutation',
    z.ZodObject<Under<N, z.ZodArray<z.ZodObject<F>>> & Once>,
    z.ZodObject<Under<N, z.ZodArray<z.ZodObject<Row<F, T>>>>>
  >
  /** Replaces a record. */
  replace: Procedure<'mutation', z.ZodObject<Key & R & Write>, z.ZodObject<Row<F, T>>, typeof stale>
  /** Changes the fields that are sent. */
  update: Procedure<'mutation', ReturnType<typeof changesOf<Changeable<F>>>, z.ZodObject<Row<F, T>>, typeof stale>
  /** Deletes a record. Its id is never given to another. */
  delete: Procedure<'mutation', z.ZodObject<Key & Write>, typeof message, typeof stale>
}

// biome-ignore lint/suspicious/noExplicitAny: the names of the procedures are the same for all
type Verb = keyof Standard<any, any, any, any, any, any>

/** What a standard procedure's REST side has in place of the usual; undefined removes it. */
type Changed = { [K in keyof RestMeta]?: RestMeta[K] | undefined }

export interface Declaration<
  N extends string,
  F extends Fields,
  T extends boolean,
  L extends FilterName<F>,
  S extends string,
  O extends Verb,
  R extends Fields,
  P extends Procedures,
> {
  noun: N
  /** The noun of one record; the noun without its last letter when absent. */
  one?: string
  description: string
  /**
   * What a caller sends of a record, with its rules. What is shown of it follows from them; a `hidden` field is never shown.
   */
  fields: F
  /** Whether the service keeps `created_at` and `updated_at` of each record. */
  timestamps?: T
  /**
   * Fields that lists can be filtered by: `status` by equality, `price_lt` by a bound, `status_in` by several values.
   * Those of one field hold together.
   */
  filters?: readonly L[]
  /** What lists can be sorted by; `id`, every field that is shown and the times when absent. */
  sort?: readonly S[]
  /**
   * The fields that are filtered or sorted by without an index that begins with them, each with the reason. Any other
   * field without one is an error at start.
   */
  unindexed?: { [K in keyof F]?: string }
  /** Other names of fields that lists can be sorted by: `{ username: 'name' }`. */
  sortAliases?: Record<string, string>
  /** What PUT takes, where that is not every field. */
  replace?: R
  /** The standard procedures that the resource does not have. */
  omit?: readonly O[]
  /** The role a caller needs, where it is not the usual one: readers read, writers write. */
  access?: { [V in Verb]?: Role }
  /** The role it takes to change a field, once there are API keys. */
  changedBy?: { [K in keyof F]?: Role }
  /** The roles it takes to give a new record certain values, once there are API keys: `{ role: { admin: 'admin' } }`. */
  givenBy?: { [K in keyof F]?: Record<string, Role> }
  errorForm?: ErrorForm
  /** `/orders` when absent. */
  path?: `/${string}`
  /** The path parameter of the id; `id` when absent. */
  param?: string
  example?: Record<string, unknown>
  /** Changes to the REST side of standard procedures, and further bindings of them. */
  bindings?: (record: z.ZodObject<PublicRecord<F, T>>) => { [V in Verb]?: Changed }
  /** Procedures beside the standard ones. */
  procedures?: (versioned: z.ZodObject<Row<F, T>>, record: z.ZodObject<PublicRecord<F, T>>) => P
}

/** What the service needs of a collection beside its procedures. */
export interface CollectionFacts {
  /** The noun of one record. */
  one: string
  /** Whether the service keeps `created_at` and `updated_at`. */
  timestamps: boolean
  /** Fields that are written and never shown. */
  hidden: readonly string[]
  /** The fields behind the other names of `sort`. */
  sortAliases: Readonly<Record<string, string>>
  filters: readonly string[]
  /** The fields that lists can be sorted by, without their other names. */
  sort: readonly string[]
  /** The nouns of the collections that fields refer to, by field. */
  references: Readonly<Record<string, string>>
  /** Filters and sorts without an index, each with the reason. */
  unindexed: Readonly<Record<string, string>>
}

/** A resource that is a collection of records. */
export interface CollectionResource<P extends Procedures> extends Resource<P> {
  collection: CollectionFacts
}

/** A resource of records, with the standard procedures over the fields of one. */
export function collection<
  const N extends string,
  F extends Fields,
  T extends boolean = false,
  L extends FilterName<F> = never,
  S extends string = 'id' | (keyof (Shown<F> & Times<T>) & string),
  O extends Verb = never,
  R extends Fields = F,
  P extends Procedures = Record<never, never>,
>(
  declaration: Declaration<N, F, T, L, S, O, R, P>,
): CollectionResource<Omit<Standard<N, F, T, Filters<F, L>, S, R>, O> & P> {
  const { noun, fields, description, omit = [], errorForm = messageField, param = 'id' } = declaration
  const { one = noun.slice(0, -1), path = `/${noun}`, access = {}, sortAliases = {} } = declaration
  checkFields(noun, fields)
  const filters = filtersOf(noun, fields, declaration.filters ?? [])
  const [One, Many, a] = [upper(one), upper(noun), `${article(one)} ${one}`]
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
    const roles = declaration.givenBy?.[name]
    return roles === undefined ? field : within(field, (inner) => givenBy(roles, inner))
  })
  const guarded = (fields: Fields) =>
    mapFields(fields, (field, name) => {
      const role = declaration.changedBy?.[name]
      return role === undefined ? field : within(field, (inner) => changedBy(role, inner))
    })
  const replacement = guarded(declaration.replace ?? fields)
  const changes = guarded(mapFields(fields, withoutDefault))

  const bindings = declaration.bindings?.(record) ?? {}
  const base = path.replace(/\/$/, '') as `/${string}`
  const item: `/${string}` = `${base}/{${param}}`
  const params = { ...(param !== 'id' && { params: { [param]: 'id' } }) }
  const single = { response: record, envelope: one, etag: 'version' }
  const about = (verb: Verb, usual: RestMeta) => ({
    ...(access[verb] !== undefined && { access: access[verb] }),
    meta: { openapi: changed(usual, bindings[verb]) },
  })

  const standard = {
    list: query({
      input: listInput(filters, sort),
      output: z.object({ [noun]: z.array(versioned), ...pageFacts }),
      ...about('list', {
        method: 'GET',
        path,
        operationId: `list${Many}`,
        summary: `List ${noun}`,
        description: listWords(Object.keys(filters)),
        successDescription: `A page of ${noun}.`,
        responseBody: noun,
        response: pageOf(record),
        envelope: noun,
        headers: pageHeaders,
      }),
    }),
    get: query({
      input: z.object({ id: recordId }),
      output: versioned,
      errors: [404],
      ...about('get', {
        ...params,
        ...single,
        method: 'GET',
        path: item,
        operationId: `get${One}`,
        summary: `Get ${a}`,
        description: '`ETag` names the version read; send it back as `If-Match` to write only what you have seen.',
        successDescription: `The ${one}.`,
      }),
    }),
    create: mutation({
      input: z.object({ ...creation, idempotency_key: idempotencyKey }),
      output: versioned,
      errors: [409],
      ...about('create', {
        ...single,
        method: 'POST',
        path,
        operationId: `create${One}`,
        summary: `Create ${a}`,
        description: fieldWords(fields, 'is'),
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
      ...about('createMany', {
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
      ...about('replace', {
        ...params,
        ...single,
        ...conditional,
        method: 'PUT',
        path: item,
        operationId: `replace${One}`,
        summary: `Replace ${a}`,
        description: fieldWords(fields, 'returns to'),
        successDescription: `The replaced ${one}.`,
      }),
    }),
    update: mutation({
      input: changesOf(changes),
      output: versioned,
      errors: [404, 409],
      errorData: stale,
      ...about('update', {
        ...params,
        ...single,
        ...conditional,
        method: 'PATCH',
        path: item,
        operationId: `update${One}`,
        summary: `Update ${a}`,
        description: 'Changes the fields that are sent.',
        successDescription: `The updated ${one}.`,
      }),
    }),
    delete: mutation({
      input: z.object({ id: recordId, ...write }),
      output: message,
      errors: [404, 409],
      errorData: stale,
      ...about('delete', {
        ...params,
        ...conditional,
        method: 'DELETE',
        path: item,
        operationId: `delete${One}`,
        summary: `Delete ${a}`,
        description: `The id is never given to another ${one}.`,
        successDescription: `The ${one} is gone.`,
        status: 204,
      }),
    }),
  }
  const procedures = {
    ...Object.fromEntries(Object.entries(standard).filter(([verb]) => !omit.includes(verb as O))),
    ...declaration.procedures?.(versioned, record),
  }
  return {
    tag: Many,
    description,
    errorForm,
    lookup: 'get' as never,
    collection: {
      one,
      timestamps: declaration.timestamps ?? false,
      hidden,
      sortAliases,
      filters: Object.keys(filters),
      sort: [...new Set(sort.map((name) => sortAliases[name] ?? name))],
      references: referencesOf(fields),
      unindexed: (declaration.unindexed ?? {}) as Record<string, string>,
    },
    // What `standard` is, key by key; TypeScript does not follow computed keys.
    procedures: procedures as never,
  }
}

/** @throws Error for a default that its own field refuses, and for a field that is shown and may have no value */
function checkFields(noun: string, fields: Fields): void {
  for (const [name, field] of Object.entries(fields)) {
    if (field instanceof z.ZodOptional && !isHidden(field)) {
      throw new Error(
        `${noun}: ${name} may be left out; declare what is stored then, such as .nullable().default(null)`,
      )
    }
    if (!(field instanceof z.ZodDefault)) continue
    const { defaultValue } = field.def
    const { error } = (field.unwrap() as z.ZodType).safeParse(defaultValue)
    if (error === undefined) continue
    throw new Error(`${noun}: the default of ${name}, ${JSON.stringify(defaultValue)}, ${error.issues[0]?.message}`)
  }
}

function referencesOf(fields: Fields): Record<string, string> {
  const found = Object.entries(fields).map(([name, field]) => [name, referenceOf(bare(field))] as const)
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined))
}

function mapFields<F extends Fields>(fields: F, map: (field: z.ZodType, name: keyof F) => z.ZodType): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, map(field, name)]))
}

function withoutDefault(field: z.ZodType): z.ZodType {
  if (!(field instanceof z.ZodDefault || field instanceof z.ZodOptional)) return field
  const inner = field.unwrap() as z.ZodType
  return isHidden(field) ? hidden(inner) : inner
}

/** Changes what a field takes when it is sent, and leaves its default as it is. */
function within(field: z.ZodType, change: (inner: z.ZodType) => z.ZodType): z.ZodType {
  if (field instanceof z.ZodDefault) return change(field.unwrap() as z.ZodType).default(field.def.defaultValue)
  return field instanceof z.ZodOptional ? change(field.unwrap() as z.ZodType).optional() : change(field)
}

/**
 * A field as it is shown: its type, and no rule that a stored value might not keep. A whole number keeps its bounds, by
 * which generators of clients choose its type.
 *
 * @param withExamples whether its examples are kept, too
 */
function shownAs(field: z.ZodType, withExamples: boolean): z.ZodType {
  const shown = bareOf(field)
  const { examples } = field.meta() ?? {}
  return withExamples && examples !== undefined ? shown.meta({ ...shown.meta(), examples }) : shown
}

function bareOf(field: z.ZodType): z.ZodType {
  if (field instanceof z.ZodDefault || field instanceof z.ZodOptional) return bareOf(field.unwrap() as z.ZodType)
  if (field instanceof z.ZodNullable) {
    const inner = field.unwrap() as z.ZodType
    const shown = bareOf(inner)
    return shown === inner ? field : shown.nullable()
  }
  const { type, format } = field.def as z.core.$ZodTypeDef & { format?: string }
  if (type === 'string' && format === 'date') return z.iso.date()
  if (type === 'string' && format === 'datetime') return timestamp
  if (type === 'string') return z.string()
  if (type === 'number' && format !== 'safeint') return z.number()
  return field
}

function changed(usual: RestMeta, otherwise: Changed = {}): RestMeta {
  const all = { ...usual, ...otherwise }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as unknown as RestMeta
}

function listWords(filters: string[]): string {
  if (filters.length === 0) return 'In the order `sort` says.'
  return `Filtered by ${listed(filters.map((name) => `\`${name}\``))}, in the order \`sort\` says.`
}

const COUNTED = ['', 'The field is', 'Both fields are', 'All three fields are', 'All four fields are']

function fieldWords(fields: Fields, becomes: string): string {
  const defaults = Object.entries(fields).flatMap(([name, field]) => {
    if (!(field instanceof z.ZodDefault)) return []
    const value: unknown = field.def.defaultValue
    return [`${article(name)} ${name} left out ${becomes} ${value === null ? 'null' : `\`${value}\``}`]
  })
  if (defaults.length > 0) return `${upper(defaults.join(', '))}.`
  return `${COUNTED[Object.keys(fields).length] ?? 'All fields are'} required.`
}

function listed(words: string[]): string {
  return words.join(', ').replace(/, ([^,]*)$/, ' and $1')
}

const upper = (word: string) => word.replace(/^./, (letter) => letter.toUpperCase())
// `a user`, `a unit`.
const article = (word: string) => (/^(?:[aeio]|u(?!s|ni))/.test(word) ? 'an' : 'a')
