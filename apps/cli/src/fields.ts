import { KNOWN_VALUES } from '@resource/contract'
import { factsOf } from '@resource/contract/schema'
import { type ImportField, kindOf, parseValue as parseOne } from '@resource/import'
import { z } from 'zod'
import { plainText } from './plain-text.ts'

/** A field of a procedure's input, as a command-line option. */
export interface Field {
  name: string
  /** `--published-date` */
  flag: string
  kind: ImportField['kind']
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

// Options of the commands; a field of the same name gets a prefix.
const RESERVED = [
  ...['url', 'key', 'database', 'profile', 'json', 'fields', 'quiet', 'timeout', 'help', 'version'],
  ...['yes', 'all', 'where', 'search', 'preview', 'propose', 'add', 'multiply'],
]
const FLAGS: Record<string, string> = { q: '--search' }
// For fields whose description in the contract is about requests.
const DESCRIPTIONS: Record<string, string> = {
  after: 'Start after this cursor, which the page before prints; empty for the first page.',
  count: 'Count all matching records.',
  if_version: 'Change the record only if it still has this version, or one of these versions.',
  idempotency_key: 'Makes a retry safe: within 24 hours, a second call with the same key has no further effect.',
}

/** The fields of an input schema in order. */
export function fieldsOf({ shape }: z.ZodObject): Field[] {
  return Object.entries(shape as Record<string, z.ZodType>).map(([name, schema]) => {
    const { core, isNullable, isOptional, initial, format, meta } = factsOf(schema)
    const values = core instanceof z.ZodUnion ? (core.options as z.ZodType[]).map(factsOf) : [factsOf(core)]
    const elements = values.flatMap(({ element }) => (element === undefined ? [] : [factsOf(element)]))
    const list = elements.length === 0 ? undefined : elements.length === values.length ? 'always' : 'optional'
    const kinds = [...values.filter(({ element }) => element === undefined), ...elements].map(kindOf)
    const kind = (['json', 'number', 'boolean'] as const).find((one) => kinds.includes(one)) ?? 'text'
    const choices = values.find((value) => value.choices)?.choices?.map(String)
    const known = [meta, ...elements.map(({ meta }) => meta)].find((meta) => meta[KNOWN_VALUES])?.[KNOWN_VALUES]
    const kebab = name.replaceAll('_', '-')
    const examples = [meta, ...values.map(({ meta }) => meta)].find(({ examples }) => examples)?.examples
    const example = ((examples ?? choices ?? known) as unknown[] | undefined)?.[0]
    return {
      name,
      flag: FLAGS[name] ?? `--${RESERVED.includes(kebab) || kebab.startsWith('no-') ? 'field-' : ''}${kebab}`,
      kind,
      list: kind === 'json' ? undefined : list,
      choices,
      known: known as string[] | undefined,
      required: !isOptional,
      nullable: isNullable,
      negatedValue: isNullable ? null : kind === 'boolean' && initial !== false ? false : undefined,
      secret: format === 'password',
      description: describe(name, meta.description as string | undefined, initial),
      example: example === undefined ? undefined : String(example),
    }
  })
}

function describe(name: string, description = '', initial: unknown): string {
  const standard = initial === undefined || initial === null || initial === false ? '' : ` (default ${initial})`
  return `${DESCRIPTIONS[name] ?? plainText(description)}${standard}`.trim()
}

/** Parses `text` as a value of the field. Text of the wrong kind is returned unchanged, so that validation reports it. */
export function parseValue({ kind, list }: Field, text: string): unknown {
  const isList = list === 'always' || (list === 'optional' && text.includes(','))
  return isList ? text.split(',').map((part) => parseOne(kind, part.trim())) : parseOne(kind, text)
}
