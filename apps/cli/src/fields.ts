import { KNOWN_VALUES } from '@resource/contract'
import { z } from 'zod'
import { plainText } from './plain-text.ts'

/** A field of a procedure's input, as a command-line option. */
export interface Field {
  name: string
  /** `--published-date` */
  flag: string
  kind: 'text' | 'number' | 'boolean' | 'json'
  /** Whether it takes several values, separated by commas. `optional`: one value, or several. */
  list: 'always' | 'optional' | undefined
  choices: string[] | undefined
  /** Values that completion suggests; other values are accepted. */
  known: string[] | undefined
  required: boolean
  nullable: boolean
  /** The value that `--no-x` sets; undefined if the field has no such flag. */
  negatedValue: null | false | undefined
  /** Prompted for without echo, never an argument. */
  secret: boolean
  description: string
  example: string | undefined
}

interface JsonSchema {
  type?: string | string[] | undefined
  enum?: unknown[]
  [KNOWN_VALUES]?: string[]
  anyOf?: JsonSchema[]
  items?: JsonSchema
  $ref?: string
  $defs?: Record<string, JsonSchema>
  properties?: Record<string, JsonSchema>
  required?: string[]
  description?: string
  examples?: unknown[]
  default?: unknown
  format?: string
}

// Options of the commands; a field of the same name gets a prefix.
const RESERVED = [
  ...['url', 'key', 'database', 'profile', 'json', 'fields', 'quiet', 'timeout', 'help', 'version'],
  ...['yes', 'all', 'filter', 'search', 'dry-run', 'add', 'multiply'],
]
const FLAGS: Record<string, string> = { q: '--search' }
// For fields whose description in the contract is about requests.
const DESCRIPTIONS: Record<string, string> = {
  after: 'Start after this cursor, which the page before prints; empty for the first page.',
  count: 'Count all matching records.',
  if_version: 'Change the record only if it still has this version, or one of these versions.',
  idempotency_key: 'Makes a retry safe: within 24 hours, a second call with the same key has no further effect.',
}

/** The fields of an input schema in order, read from its JSON Schema. */
export function fieldsOf(schema: z.ZodObject): Field[] {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema
  const resolve = (part: JsonSchema): JsonSchema =>
    part.$ref === undefined ? part : { ...root.$defs?.[part.$ref.replace('#/$defs/', '')], ...part }
  const { properties = {}, required = [] } = resolve(root)
  return Object.entries(properties).map(([name, property]) => {
    const part = resolve(property)
    const variants = (part.anyOf ?? [part.type].flat().map((type) => ({ ...part, type }))).map(resolve)
    const values = variants.filter(({ type }) => type !== 'null')
    const elements = values.flatMap(({ items }) => (items === undefined ? [] : [resolve(items)]))
    const list = elements.length === 0 ? undefined : elements.length === values.length ? 'always' : 'optional'
    const kind = kindOf([...values.filter(({ items }) => items === undefined), ...elements])
    const choices = values.find((value) => value.enum)?.enum?.map(String)
    const known = [part, ...elements].find((schema) => schema[KNOWN_VALUES])?.[KNOWN_VALUES]
    const nullable = variants.length > values.length
    const kebab = name.replaceAll('_', '-')
    const example =
      part.examples?.[0] ?? values.find(({ examples }) => examples)?.examples?.[0] ?? (choices ?? known)?.[0]
    return {
      name,
      flag: FLAGS[name] ?? `--${RESERVED.includes(kebab) || kebab.startsWith('no-') ? 'field-' : ''}${kebab}`,
      kind,
      list: kind === 'json' ? undefined : list,
      choices,
      known,
      required: required.includes(name),
      nullable,
      negatedValue: nullable ? null : kind === 'boolean' && part.default !== false ? false : undefined,
      secret: part.format === 'password',
      description: describe(name, part),
      example: example === undefined ? undefined : String(example),
    }
  })
}

function kindOf(values: JsonSchema[]): Field['kind'] {
  if (values.some(({ type }) => type === 'array' || type === 'object')) return 'json'
  if (values.some(({ type }) => type === 'integer' || type === 'number')) return 'number'
  return values.some(({ type }) => type === 'boolean') ? 'boolean' : 'text'
}

function describe(name: string, { description, default: fallback }: JsonSchema): string {
  const standard = fallback === undefined || fallback === null || fallback === false ? '' : ` (default ${fallback})`
  return `${DESCRIPTIONS[name] ?? plainText(description ?? '')}${standard}`.trim()
}
