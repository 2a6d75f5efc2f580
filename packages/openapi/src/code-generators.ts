const LARGEST_32 = 2 ** 31 - 1

interface WholeNumber {
  type: 'integer' | string[]
  format?: string
  minimum?: number
  maximum?: number
}

interface JsonSchema {
  type?: string | string[]
  format?: string
  pattern?: string
  anyOf?: JsonSchema[]
}

/**
 * Rewrites the schemas of a document for code generators: a nullable value as `type: [integer, "null"]`, a date without a
 * pattern, and each number with its format: `int32`, `int64` or `double`. For a number without a format, openapi-generator
 * and oapi-codegen for Go declare a 32-bit float, which loses digits.
 */
export function simplify(node: unknown): void {
  if (typeof node !== 'object' || node === null) return
  const schema = node as JsonSchema
  if (Array.isArray(schema.anyOf)) mergeNull(schema, schema.anyOf)
  if (schema.format === 'date' || schema.format === 'date-time') delete schema.pattern
  if (isWholeNumber(node)) {
    const { minimum = -Infinity, maximum = Infinity } = node
    node.format ??= minimum >= -LARGEST_32 && maximum <= LARGEST_32 ? 'int32' : 'int64'
  } else if (hasType(node, 'number') && !hasType(node, 'string')) schema.format ??= 'double'
  for (const child of Object.values(node)) simplify(child)
}

function mergeNull(schema: JsonSchema, [value, empty, ...others]: JsonSchema[]): void {
  if (others.length > 0 || typeof value?.type !== 'string' || empty?.type !== 'null') return
  delete schema.anyOf
  Object.assign(schema, { ...value, ...schema, type: [value.type, 'null'] })
}

function isWholeNumber(node: object): node is WholeNumber {
  return hasType(node, 'integer')
}

function hasType(node: object, name: string): boolean {
  const { type } = node as { type?: unknown }
  return type === name || (Array.isArray(type) && type.includes(name))
}
