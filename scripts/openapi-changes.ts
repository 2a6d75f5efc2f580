import { apiDiff, type Diff } from 'api-smart-diff'

/** A difference between two OpenAPI documents: the keys that lead to it, and what was there before and is now. */
export type Change = { place: string[]; breaking: boolean; before: unknown; after: unknown }

/**
 * Compares two OpenAPI 3.1 documents as their callers see them: `$ref`s are followed, so a schema counts in every
 * request and response that uses it, and moving or renaming a component is no change.
 */
export function findChanges(before: object, after: object): Change[] {
  // The library rewrites what it compares.
  return apiDiff(structuredClone(before), structuredClone(after))
    .filter(({ path }) => path[0] !== 'components' || path[1] === 'securitySchemes')
    .map((diff) => ({
      place: diff.path.map(String),
      breaking: isBreaking(diff),
      before: diff.before,
      after: diff.after,
    }))
}

// The library's verdict, except where it does not look at the direction or at what the value says.
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

/** Whether every value of the types in `narrow` is one of the types in `wide`; no type at all means any. */
function covers(wide: unknown, narrow: unknown) {
  if (wide === undefined) return true
  if (narrow === undefined) return false
  const types = [wide].flat()
  return [narrow].flat().every((type) => types.includes(type) || (type === 'integer' && types.includes('number')))
}

const isEmpty = (value: object) => Object.keys(value).length === 0
