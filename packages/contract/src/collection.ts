import { mutation, type Procedures, query, type Resource, type RestMeta } from '@resource/openapi/contract'
import { withValue } from '@resource/openapi/schema'
import { z } from 'zod'
import type { CollectionFacts, Declaration, Named, RestOf, Verb } from './declaration.ts'
import { messageField } from './errors.ts'
import {
  bulk,
  changesOf,
  conditional,
  id,
  idempotencyKey,
  isHidden,
  isReadOnly,
  location,
  many,
  message,
  moment,
  must,
  recordId,
  searchText,
  stale,
  timestamp,
  version,
  write,
  writeHeaders,
} from './fields.ts'
import { filtersOf } from './filters.ts'
import { updateMany } from './many.ts'
import { idBounds, matching } from './matching.ts'
import { nestedLists } from './nested.ts'
import { collectionFacts, collectionHeaders, listInput, pageOf, searchHeaders } from './pages.ts'
import {
  checkFields,
  checkSummaries,
  claimSchemas,
  type Fields,
  includesOf,
  mapFields,
  nameChoices,
  pickFields,
  referencesOf,
  shownAs,
  withoutDefault,
} from './records.ts'
import { type Role, withFieldRole, withValueRoles } from './roles.ts'
import type { RecordOf, StandardOf, VersionedOf } from './standard-procedures.ts'
import { summarize } from './summaries.ts'
import { checkTransitions, transitionRules } from './transitions.ts'
import { article, fieldsDescription, listDescription, recordRoles, searchDescription, upper } from './words.ts'

/** A resource that is a collection of records. */
export interface CollectionResource<P extends Procedures> extends Resource<P> {
  collection: CollectionFacts
}

/** A declared collection, with the schemas of its records. */
export interface Collection<D extends Declaration> extends CollectionResource<StandardOf<D>> {
  /** The record as responses show it. */
  record: RecordOf<D>
  versioned: VersionedOf<D>
}

/** Declares a collection: a resource with the standard procedures for its fields. */
export function collection<const D extends Declaration>(declaration: D & Named<D>): Collection<D> {
  // Its type follows from `D` alone. That it is the type of what runs is a test of the published client.
  return derived(declaration) as never
}

/** Overrides the REST bindings of procedures, for example with additional bindings; undefined removes a property. */
export function bind<R extends Resource>(
  resource: R,
  bindings: { [V in keyof R['procedures']]?: BindingOverrides },
): R {
  const procedures = Object.fromEntries(
    Object.entries(resource.procedures).map(([verb, procedure]) => {
      const openapi = withOverrides(procedure.meta.openapi, bindings[verb])
      return [verb, { ...procedure, meta: { openapi } }]
    }),
  )
  return { ...resource, procedures }
}

/** Adds procedures to those of a collection. */
export function extend<S extends Procedures, P extends Procedures>(
  resource: CollectionResource<S>,
  procedures: P,
): CollectionResource<S & P> {
  return { ...resource, procedures: { ...resource.procedures, ...procedures } }
}

function derived(declaration: Declaration) {
  const { noun, fields, description, errorForm = messageField, param = 'id' } = declaration
  const { one = noun.slice(0, -1), path = `/${noun}`, sortAliases = {} } = declaration
  const { delete: remover, updateMany: changer } = declaration.access ?? {}
  const purgeRole = declaration.access?.deleteWhere ?? 'admin'
  // By default, a change of all matching records requires the role of an update of many.
  const access: { [V in Verb]?: Role | undefined } = {
    updateWhere: changer,
    ...declaration.access,
    deleteWhere: remover,
  }
  const omit: string[] = [...(declaration.omit ?? [])]
  if (omit.includes('delete')) omit.push('deleteWhere')
  checkFields(noun, fields)
  const { search = [], groups = [], measures = [], keys = [], transitions = {} } = declaration
  checkSummaries(noun, fields, groups, measures)
  checkTransitions(noun, fields, transitions)
  const filterable = { ...fields, ...(declaration.timestamps && { created_at: moment, updated_at: moment }) }
  const filterNames = [...new Set<string>([...(declaration.filters ?? []), ...keys])]
  const filters = filtersOf(noun, filterable as Fields, filterNames, search)
  const matched = {
    ...filters,
    ...(search.length > 0 && { q: searchText.optional().meta({ description: searchDescription(search) }) }),
  }
  const [One, Many, a] = [upper(one), upper(noun), `${article(one)} ${one}`]
  claimSchemas(noun, One)
  nameChoices(noun, One, fields)
  const hidden = Object.keys(fields).filter((name) => isHidden(fields[name] as z.ZodType))
  const shown = Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) =>
      hidden.includes(name) ? [] : [[name, shownAs(field, declaration.example === undefined)]],
    ),
  )
  const times = declaration.timestamps ? { created_at: timestamp, updated_at: timestamp } : {}
  const sort = declaration.sort ?? ['id', ...Object.keys(shown), ...Object.keys(times)]
  const record = z
    .object({ id, ...shown, ...times })
    .meta({ id: One, ...(declaration.example && { examples: [declaration.example] }) })
  const versioned = record.extend({ version }).meta({ id: `Versioned${One}` })

  const given = pickFields(fields, (field) => !isReadOnly(field))
  const creation = mapFields(given, (field, name) => {
    const roles = declaration.valueRoles?.[name]
    return roles === undefined ? field : withValue(field, (inner) => withValueRoles(roles, inner))
  })
  const guarded = (fields: Fields) =>
    mapFields(fields, (field, name) => {
      const role = declaration.fieldRoles?.[name]
      return role === undefined ? field : withValue(field, (inner) => withFieldRole(role, inner))
    })
  const replacement = guarded(declaration.replace ?? given)
  const changes = guarded(mapFields(given, withoutDefault))

  const base = path.replace(/\/$/, '') as `/${string}`
  const item: `/${string}` = `${base}/{${param}}`
  const params = { ...(param !== 'id' && { params: { [param]: 'id' } }) }
  const single = { response: record, envelope: one, etag: 'version' }
  const restOf: RestOf = (verb, defaults) => ({
    access: access[verb] ?? (defaults.method === 'GET' ? 'reader' : 'writer'),
    meta: { openapi: defaults },
  })

  const references = referencesOf(fields)
  const includes = includesOf(references, record.shape)
  const below: RestOf = (verb, defaults) => restOf(verb, { ...defaults, path: `${base}${defaults.path}` })
  const names = { noun, One, Many }
  // All matching records get the same values, so these can be no unique fields and no passwords.
  const shared = Object.entries(changes).filter(([name]) => !hidden.includes(name) && !keys.includes(name))
  if (shared.length === 0) omit.push('updateWhere')
  const sharedChanges = z
    .strictObject(Object.fromEntries(shared), must('an object'))
    .partial()
    .meta({ id: `${One}Changes` })

  const creationDescription = fieldsDescription(given, (name, value) => `${name} defaults to ${value}`)
  const standard = {
    list: query({
      input: listInput({ ...matched, ...idBounds }, sort),
      output: z.object({ [noun]: z.array(versioned), ...collectionFacts }),
      ...restOf('list', {
        method: 'GET',
        path,
        operationId: `list${Many}`,
        summary: `List ${noun}`,
        description: listDescription(Object.keys(matched)),
        successDescription: `A page of ${noun}.`,
        responseBody: noun,
        response: pageOf(record),
        pickable: true,
        includes,
        envelope: noun,
        headers: search.length > 0 ? searchHeaders : collectionHeaders,
        additionalBindings: nestedLists(names, declaration.nested ?? {}, references, Object.keys(filters)),
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
        pickable: true,
        includes,
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
        description: fieldsDescription(given, (name, value) => `${name} is reset to ${value} if omitted`),
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
    summarize: summarize({ ...names, filters: matched, groups, measures }, below),
    updateMany: updateMany({ ...names, fields: changes, record: versioned, keys }, below),
    ...matching({ ...names, path, filters: matched, fields: sharedChanges, purgeRole }, restOf),
  }
  const procedures = Object.fromEntries(Object.entries(standard).filter(([verb]) => !omit.includes(verb)))
  return {
    tag: Many,
    description: [description, ...recordRoles(one, declaration.valueRoles), ...transitionRules(transitions)].join(' '),
    errorForm,
    lookup: 'get',
    collection: {
      one,
      timestamps: declaration.timestamps ?? false,
      hidden,
      readOnly: pickFields(fields, isReadOnly),
      sortAliases,
      filters: Object.keys(filters),
      search,
      groups,
      measures,
      keys,
      purgeRole,
      sort: [...new Set(sort.map((name) => sortAliases[name] ?? name))],
      valueRoles: declaration.valueRoles ?? {},
      transitions,
      references,
      unindexed: declaration.unindexed ?? {},
    },
    procedures,
    record,
    versioned,
  }
}

type BindingOverrides = { [K in keyof RestMeta]?: RestMeta[K] | undefined }

function withOverrides(defaults: RestMeta, overrides: BindingOverrides = {}): RestMeta {
  const all = Object.assign({}, defaults, overrides)
  for (const [name, value] of Object.entries(overrides)) if (value === undefined) Reflect.deleteProperty(all, name)
  return all
}
