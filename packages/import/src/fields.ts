import { contract } from '@resource/contract'
import { type Facts, factsOf } from '@resource/contract/schema'
import type { z } from 'zod'

/** What an import does with a row: `upsert` updates the record that has its key, and creates one if there is none. */
export interface Mode {
  action: 'create' | 'update' | 'upsert'
  /** The field that identifies a record. */
  key: string
}

/** A field that a column can be. */
export interface ImportField {
  name: string
  /** Other names of its column. */
  names: string[]
  kind: 'text' | 'number' | 'boolean' | 'json'
  isList: boolean
  isRequired: boolean
  isNullable: boolean
  /** Whether it is a password. */
  isSecret: boolean
}

/** What can be imported into a collection. */
export interface Target {
  noun: string
  /** Accepts a new record; undefined if records cannot be created together. */
  created: z.ZodObject | undefined
  /** Accepts the change of a record; undefined if records cannot be changed together. */
  changed: z.ZodObject | undefined
  /** The fields that identify a record. */
  keys: string[]
  /** The fields of a stored record. A column of a field that nobody sets is left out. */
  stored: string[]
  idNames: string[]
}

/** The field that always identifies a record. */
export const ID = 'id'

type Shape = Record<string, z.ZodType>
type Procedures = Record<string, { input: z.ZodObject; output: z.ZodObject } | undefined>

/** What can be imported into the collection of a noun. */
export function targetOf(noun: keyof typeof contract): Target {
  const resource = contract[noun]
  const { createMany, updateMany, list }: Procedures = resource.procedures
  const rowOf = (schema: z.ZodObject | undefined) =>
    (schema && factsOf(schema.shape[noun] as z.ZodType).element) as z.ZodObject | undefined
  const keys = updateMany && factsOf(updateMany.input.shape.key as z.ZodType).choices
  const one = 'collection' in resource ? resource.collection.one : noun
  return {
    noun,
    created: rowOf(createMany?.input),
    changed: rowOf(updateMany?.input),
    keys: keys?.map(String) ?? [],
    stored: Object.keys(rowOf(list?.output)?.shape ?? {}),
    idNames: [`${one}_id`, `${noun}_id`],
  }
}

/** The fields that columns can be in a mode, or in any mode. */
export function importFields(target: Target, mode?: Mode): ImportField[] {
  const { created, changed, idNames } = target
  const schema = mode?.action === 'create' ? created : (changed ?? created)
  return Object.entries((schema?.shape ?? {}) as Shape)
    .filter(([name]) => name !== ID || mode === undefined || mode.key === ID)
    .map(([name, schema]) => {
      const { isOptional, isNullable, element, format } = factsOf(schema)
      return {
        name,
        names: name === ID ? idNames : [],
        kind: kindOf(factsOf(element ?? schema)),
        isList: element !== undefined,
        isRequired: !isOptional,
        isNullable,
        isSecret: format === 'password',
      }
    })
}

/** The fields for which a file needs a column. Rows without an id are created by `upsert`. */
export function requiredFields(target: Target, mode: Mode): string[] {
  if (mode.action !== 'create') return mode.action === 'upsert' && mode.key === ID ? [] : [mode.key]
  return importFields(target, mode).flatMap(({ name, isRequired }) => (isRequired ? [name] : []))
}

/** How the text of a value is read. */
export function kindOf({ type }: Facts): ImportField['kind'] {
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'boolean') return 'boolean'
  return ['array', 'object', 'record'].includes(type) ? 'json' : 'text'
}
