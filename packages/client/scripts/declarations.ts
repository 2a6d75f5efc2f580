import { z } from 'zod'

interface Procedure {
  type: 'query' | 'mutation'
  input: z.ZodType
  output: z.ZodType
  errorData?: Record<string, z.ZodType>
  description?: string
  meta: { openapi: { summary?: string; description?: string } }
}

type Schema = z.core.JSONSchema.JSONSchema

/**
 * The declaration of `Api`: interfaces for the inputs, the records and the procedures of a contract. Unlike types that
 * the compiler derives from the schemas, they have names, which declarations of a program can refer to, and the
 * descriptions of the schemas as comments.
 */
export function declarations(contract: Record<string, { procedures: unknown }>): string {
  const named = new Map<string, string>()
  const nouns = Object.entries(contract).map(([noun, { procedures }]) => {
    const verbs = Object.entries(procedures as Record<string, Procedure>).map(([verb, procedure]) => {
      const { summary, description } = procedure.meta.openapi
      const name = `${upper(noun)}${upper(verb)}`
      const types = {
        input: typeOf(procedure.input, 'input', named, `${name}Input`),
        output: typeOf(procedure.output, 'output', named, `${name}Output`),
        errorData: errorDataOf(procedure, named),
      }
      const lines = Object.entries(types).map(([key, type]) => `  ${key}: ${type}\n`)
      named.set(name, `{\n  type: '${procedure.type}'\n${lines.join('')}}`)
      return `  ${comment(`${summary}. ${procedure.description ?? description}`)}  ${verb}: ${name}\n`
    })
    named.set(`${upper(noun)}Procedures`, `{\n${verbs.join('')}}`)
    return `  ${noun}: ${upper(noun)}Procedures\n`
  })
  named.set('Api', `{\n${nouns.join('')}}`)
  return [...named].map(([name, type]) => `${declaration(name, type)}\n`).join('\n')
}

function declaration(name: string, type: string): string {
  return type.startsWith('{') ? `export interface ${name} ${type}` : `export type ${name} = ${type}`
}

function errorDataOf({ errorData }: Procedure, named: Map<string, string>): string {
  if (errorData === undefined) return 'never'
  const fields = Object.entries(errorData).map(([status, data]) => `${status}: ${typeOf(data, 'output', named)}`)
  return `{ ${fields.join('; ')} }`
}

/** @param name the name of an object that has none in its schema */
function typeOf(schema: z.ZodType, io: 'input' | 'output', named: Map<string, string>, name?: string): string {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Schema & {
    $defs?: Record<string, Schema>
  }
  for (const [id, definition] of Object.entries($defs)) define(id, written(definition), named)
  const type = written(root)
  if (name === undefined || root.$ref !== undefined) return type
  define(name, type, named)
  return name
}

function define(name: string, type: string, named: Map<string, string>): void {
  const known = named.get(name)
  if (known !== undefined && known !== type) throw new Error(`two types have the name ${name}`)
  named.set(name, type)
}

/** A JSON Schema as a TypeScript type. */
function written(schema: Schema | boolean): string {
  if (typeof schema === 'boolean') return schema ? 'unknown' : 'never'
  if (schema.$ref !== undefined) return schema.$ref.replace('#/$defs/', '')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  const extensible = schema['x-extensible-enum'] as string[] | undefined
  if (extensible !== undefined)
    return [...extensible.map((value) => JSON.stringify(value)), '(string & {})'].join(' | ')
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  const choices = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined
  if (choices !== undefined) return [...new Set(choices.map(written))].join(' | ')
  if (Array.isArray(schema.type)) return schema.type.map((type) => written({ ...schema, type } as Schema)).join(' | ')
  if (schema.type === 'array') return `(${written((schema.items ?? true) as Schema)})[]`
  if (schema.type === 'object') return objectOf(schema)
  return (
    { string: 'string', number: 'number', integer: 'number', boolean: 'boolean', null: 'null' }[
      schema.type as string
    ] ?? 'unknown'
  )
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema): string {
  const names = Object.keys(properties)
  if (names.length === 0) return `Record<string, ${written((additionalProperties ?? true) as Schema)}>`
  const lines = names.map((name) => {
    const field = properties[name] as Schema
    const type = written(field)
    const isRequired = required.includes(name)
    const text = [field.description, defaultOf(field)].filter(Boolean).join(' ')
    return `${text && `  ${comment(text)}`}  ${name}${isRequired ? '' : '?'}: ${type}${isRequired ? '' : ' | undefined'}\n`
  })
  return `{\n${lines.join('')}}`
}

function defaultOf(field: Schema): string {
  return field.default === undefined ? '' : `Default: \`${JSON.stringify(field.default)}\`.`
}

function comment(text: string): string {
  return `/** ${text.replaceAll('*/', '*\\/')} */\n`
}

function upper(word: string): string {
  return word.replace(/^./, (letter) => letter.toUpperCase())
}
