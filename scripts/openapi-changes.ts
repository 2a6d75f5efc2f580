import { apiDiff, type Diff } from 'api-smart-diff'

/** A difference between two OpenAPI documents, at the keys in `path`. */
export type Change = { path: string[]; breaking: boolean; before: unknown; after: unknown }

/**
 * Compares two OpenAPI 3.1 documents from the perspective of clients. It resolves `$ref`s, so a schema change applies to
 * every request and response that uses the schema, and moving or renaming a component is not a change.
 */
export function findChanges(before: object, after: object): Change[] {
  return apiDiff(merged(before, before), merged(after, after))
    .filter(({ path }) => path[0] !== 'components' || path[1] === 'securitySchemes')
    .map((diff) => ({
      path: diff.path.map(String),
      breaking: isBreaking(diff),
      before: diff.before,
      after: diff.after,
    }))
}

/**
 * A copy in which a reference with further keywords, such as a description, is a plain schema: the library compares it as
 * `allOf`, which differs from the same schema written in place.
 */
function merged<T>(node: T, document: object): T {
  if (typeof node !== 'object' || node === null) return node
  if (Array.isArray(node)) return node.map((item) => merged(item, document)) as T
  const { $ref, ...others } = node as { $ref?: string }
  if ($ref === undefined || Object.keys(others).length === 0) {
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, merged(value, document)])) as T
  }
  const keys = $ref.slice(2).split('/')
  const target = keys.reduce<unknown>((found, key) => (found as Record<string, unknown>)?.[key], document)
  return merged({ ...(target as object), ...others }, document) as T
}

// Overrides the library's verdict where it ignores the direction (request or response) or the value.
function isBreaking({ path, action, before, after, type }: Diff) {
  const keyword = path.at(-1)
  const inRequest = path.includes('requestBody') || path.includes('parameters')
  if (keyword === 'type' && path.includes('schema')) {
    return inRequest ? !covers(after, before) : !covers(before, after)
  }
  if (keyword === 'additionalProperties' && inRequest) return after === false
  if (keyword === 'requestBody' && action === 'add') return (after as { required?: boolean }).required === true
  if (keyword === 'security' && action === 'add') return !(after as object[]).some((one) => isEmpty(one))
  if (path.at(-2) === 'properties' && action === 'remove') return true
  return type === 'breaking'
}

/** Whether the types in `wide` include all values of the types in `narrow`; undefined means any type. */
function covers(wide: unknown, narrow: unknown) {
  if (wide === undefined) return true
  if (narrow === undefined) return false
  const types = [wide].flat()
  return [narrow].flat().every((type) => types.includes(type) || (type === 'integer' && types.includes('number')))
}

const isEmpty = (value: object) => Object.keys(value).length === 0
