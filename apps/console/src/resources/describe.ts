import { type CollectionFacts, contract } from '@resource/contract'
import { factsOf } from '@resource/contract/schema'
import { z } from 'zod'
import { type Field, fieldOf } from './field.ts'
import {
  type Action,
  type Column,
  type ColumnKind,
  editVerb,
  isId,
  type Noun,
  type Overrides,
  type Resource,
} from './resource.ts'

type Shape = Record<string, z.core.$ZodType>
type Procedures = Record<string, { input: z.ZodObject; output: z.ZodObject } | undefined>

/** Describes the page of a collection. Names, kinds, rules, choices and sorts come from the contract. */
export function describe<N extends Noun>(noun: N, facts: CollectionFacts, overrides: Overrides<N> = {}): Resource {
  const { tag, procedures }: { tag: string; procedures: Procedures } = contract[noun]
  const { one, hidden, readOnly, filters, groups, measures, keys } = facts
  const labels: Record<string, string | undefined> = overrides.labels ?? {}
  const kinds: Record<string, ColumnKind | undefined> = overrides.kinds ?? {}
  const shapeOf = (verb: string, side: 'input' | 'output' = 'input'): Shape => procedures[verb]?.[side].shape ?? {}
  const { idempotency_key: _, ...input } = shapeOf('create')
  const record = shapeOf('get', 'output')
  const list = shapeOf('list')
  const search = list.q === undefined ? undefined : searchField(list.q as z.ZodType)
  const sorts = factsOf(list.sort as z.ZodType).choices?.map(String) ?? []
  const sent = Object.keys(input).filter((name) => !hidden.includes(name))
  const isNoun = (entry: [string, string]): entry is [string, Noun] => entry[1] in contract
  const references = Object.fromEntries(Object.entries(facts.references).filter(isNoun))
  // A reference shows the name of the record, not its id.
  const ownLabel = (name: string) => {
    const named = name.replace(/_id$/, '')
    return labelOf(name in references && !(named in record) ? named : name)
  }
  const label = (name: string): string => labels[name] ?? filterLabel(name, record, label) ?? ownLabel(name)
  const fieldsOf = (shape: Shape, names: readonly string[]) =>
    names.map(
      (name): Field => ({
        ...fieldOf(name, label(name), shape[name] as z.ZodType),
        refersTo: references[name],
      }),
    )
  const columnsOf = (names: readonly string[]) =>
    names.map((field): Column => {
      const schema = record[field] as z.ZodType
      return {
        field,
        label: label(field),
        kind: kinds[field] ?? (field === 'id' ? 'id' : field in references ? 'text' : columnKind(schema)),
        decimals: factsOf(schema).type === 'integer' ? 0 : 2,
        isSortable: sorts.includes(`${field}_asc`),
        refersTo: references[field],
      }
    })
  const createFields = fieldsOf(input, Object.keys(input))
  return {
    noun,
    title: tag,
    one,
    many: noun,
    nameField: sent[0] as string,
    columns: columnsOf([
      'id',
      ...Object.keys(record).filter((name) => sent.includes(name) || name in readOnly),
      ...('updated_at' in record ? ['updated_at'] : []),
    ]),
    recordColumns: columnsOf(Object.keys(record)),
    search,
    filters: [...(search === undefined ? [] : [search]), ...fieldsOf(list, filters)],
    groups: columnsOf(groups),
    measures: columnsOf(measures),
    createFields,
    // An update may omit fields, but the form shows all of them, so required fields stay required.
    editFields: createFields.filter(({ name }) => name in shapeOf(editVerb(noun))),
    keys: [...fieldsOf(record, ['id']), ...fieldsOf(input, keys)],
    // The version is for concurrency control and not part of the data.
    listed: Object.keys(record).filter((name) => name !== 'version'),
    sorts,
    references,
    actions: (overrides.actions ?? []) as Action[],
  }
}

/** The field of the search, which also takes an id. */
function searchField(words: z.ZodType): Field {
  const schema = z.unknown().superRefine((value, context) => {
    const message = isId(value) ? undefined : words.safeParse(value).error?.issues[0]?.message
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
  return { ...fieldOf('q', 'Search', words), schema }
}

function columnKind(schema: z.ZodType): ColumnKind {
  const { type, format } = factsOf(schema)
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'enum' || type === 'boolean') return 'choice'
  return format === 'date' ? 'date' : format === 'datetime' ? 'time' : 'text'
}

const BOUNDS: Record<string, string> = {
  lt: 'below',
  lte: 'at most',
  gt: 'above',
  gte: 'at least',
}
const TIME_BOUNDS: Record<string, string> = { lt: 'before', lte: 'until', gt: 'after', gte: 'from' }
const MATCHES: Record<string, string> = { in: 'is one of', contains: 'contains' }

/** `Price below` of `price_lt`, `Published from` of `published_date_gte`; undefined for the name of a field. */
function filterLabel(name: string, record: Shape, label: (field: string) => string): string | undefined {
  const cut = name.lastIndexOf('_')
  const [field, by] = [name.slice(0, cut), name.slice(cut + 1)]
  if (name in record || !(field in record)) return undefined
  const isTime = ['date', 'time'].includes(columnKind(record[field] as z.ZodType))
  return `${label(field)} ${(isTime ? TIME_BOUNDS : BOUNDS)[by] ?? MATCHES[by] ?? by}`
}

/** `Unit price` of `unit_price`, `Created` of `created_at`. */
export function labelOf(name: string): string {
  if (name === 'id') return 'ID'
  if (name === 'updated_at') return 'Changed'
  return name
    .replace(/_at$/, '')
    .replaceAll('_', ' ')
    .replace(/^./, (letter) => letter.toUpperCase())
}
