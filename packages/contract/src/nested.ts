import type { RestMeta } from '@resource/openapi/contract'
import { article, upper } from './words.ts'

/**
 * The bindings of a list at paths under the records that its own refer to.
 *
 * @param Many the capitalized noun
 * @param references the noun of the referenced collection, by field
 * @param filters the filters of the list
 * @throws Error for a field that is no reference or no filter, or a path without it
 */
export function nestedLists(
  { noun, Many }: { noun: string; Many: string },
  nested: Readonly<Record<string, `/${string}`>>,
  references: Readonly<Record<string, string>>,
  filters: readonly string[],
): NonNullable<RestMeta['additionalBindings']> {
  return Object.entries(nested).map(([field, path]) => {
    const parent = references[field]
    if (parent === undefined || !filters.includes(field) || !path.includes(`/{${field}}/`)) {
      throw new Error(`${noun}: ${path} cannot be a list by ${field}: it must be a reference, a filter and in the path`)
    }
    const one = field.replace(/_id$/, '')
    const words = one.replaceAll('_', ' ')
    return {
      path,
      parents: { [field]: `${parent}.get` },
      operationId: `list${Many}Of${one.split('_').map(upper).join('')}`,
      summary: `List the ${noun} of ${article(words)} ${words}`,
    }
  })
}
