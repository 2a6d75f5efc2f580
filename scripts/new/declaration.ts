import { and, upper } from '../../packages/contract/src/words.ts'
import { withEntries, withEntriesIn } from './field.ts'
import type { Field } from './fields.ts'
import type { Names } from './names.ts'

/** The declaration for the contract, unformatted. */
export function declarationSource({ noun, one, path, label }: Names, fields: Field[]): string {
  const schemas = fields.map((field) => `${field.name}: ${schemaOf(field)},`)
  const helpers = helpersOf(fields)
  const usesZod = fields.some(({ schema }) => schema.startsWith('z.'))
  return lines(
    usesZod && "import { z } from 'zod'",
    "import { collection } from './collection.ts'",
    helpers.length > 0 && `import { ${helpers.join(', ')} } from './fields.ts'`,
    '',
    `export const ${noun} = collection({`,
    `noun: '${noun}',`,
    one !== noun.slice(0, -1) && `one: '${one}',`,
    `description: ${JSON.stringify(`${upper(label)} with ${and(fields.map(displayName))}.`)},`,
    `fields: { ${schemas.join('\n')} },`,
    'timestamps: true,',
    ...Object.entries(listsOf(fields)).map(
      ([name, fields]) => fields.length > 0 && `${name}: ${JSON.stringify(fields)},`,
    ),
    path !== noun && `path: '/${path}',`,
    '})',
  )
}

/** Adds fields to a declaration. The result is unformatted. */
export function withFields(source: string, fields: Field[]): string {
  const helpers = helpersOf(fields).filter(
    (name) => !new RegExp(`^import [^']*\\b${name}\\b[^']*'./fields.ts'`, 'm').test(source),
  )
  const usesZod = fields.some(({ schema }) => schema.startsWith('z.')) && !/^import .*'zod'/m.test(source)
  const declared = withEntries(
    source,
    'fields',
    fields.map((field) => `${field.name}: ${schemaOf(field)}`),
  )
  const names = fields.map(({ name }) => JSON.stringify(name))
  const examples = fields.map(({ name, default: initial = null }) => `${name}: ${JSON.stringify(initial)}`)
  const shown = withEntriesIn(withEntriesIn(declared, 'sort', names), 'example', examples)
  const listed = Object.entries(listsOf(fields)).reduce(
    (text, [name, values]) =>
      withEntries(
        text,
        name,
        values.map((value) => JSON.stringify(value)),
      ),
    shown,
  )
  return lines(
    usesZod && "import { z } from 'zod'",
    helpers.length > 0 && `import { ${helpers.join(', ')} } from './fields.ts'`,
    listed,
  )
}

const helpersOf = (fields: Field[]) => [
  ...new Set(fields.flatMap(({ helpers, readOnly }) => (readOnly ? [...helpers, 'readOnly'] : helpers))),
]

/** The lists of fields in a declaration. */
function listsOf(fields: Field[]) {
  const namesOf = (has: (field: Field) => boolean | undefined) => fields.filter(has).map(({ name }) => name)
  return {
    filters: fields.flatMap(filtersOf),
    search: namesOf(({ searched }) => searched),
    groups: namesOf(({ summarized }) => summarized === 'group'),
    measures: namesOf(({ summarized }) => summarized === 'measure'),
    keys: namesOf(({ searched, unique, readOnly }) => searched && unique && !readOnly),
  }
}

function schemaOf(field: Field): string {
  const nullable = field.nullable ? '.nullable()' : ''
  const initial = field.default === undefined ? '' : `.default(${JSON.stringify(field.default)})`
  const schema = `${field.schema}${nullable}${initial}`
  return field.readOnly ? `readOnly(${schema})` : schema
}

// Whole numbers and dates have a next value, so two bounds are enough for them. A period of time ends before its end.
const BOUNDS: Record<string, string[]> = { Float: ['lt', 'lte', 'gt', 'gte'], DateTime: ['gte', 'lt'] }

function filtersOf({ name, filters, searched, column }: Field): string[] {
  if (filters === 'none') return searched ? [`${name}_contains`] : []
  return filters === 'value' ? [name] : (BOUNDS[column] ?? ['gte', 'lte']).map((bound) => `${name}_${bound}`)
}

const displayName = ({ name, relation }: Field) => (relation?.name ?? name).replaceAll('_', ' ')

const lines = (...parts: (string | false)[]) => parts.filter((part) => part !== false).join('\n')

/** Adds the resource to the contract's list, before `keys`. The result is unformatted. */
export function withNoun(list: string, { noun }: Names): string {
  const nouns = nounsIn(list)
  nouns.splice(nouns.indexOf('keys'), 0, noun)
  return withNouns(`import { ${noun} } from './${noun}.ts'\n${list}`, nouns)
}

export function withoutNoun(list: string, { noun }: Names): string {
  const line = new RegExp(`^import \\{ ${noun} \\} .*\\n`, 'm')
  return withNouns(
    list.replace(line, ''),
    nounsIn(list).filter((name) => name !== noun),
  )
}

function withNouns(list: string, nouns: string[]): string {
  return list.replace(/writable = \{[^}]*\}/, `writable = { ${nouns.join(', ')} }`)
}

/** The names in the contract's list. */
export function nounsIn(list: string): string[] {
  return /writable = \{([^}]*)\}/.exec(list)?.[1]?.match(/\w+/g) ?? []
}
