import { and, or } from '@resource/openapi/contract'
import { factsOf } from '@resource/openapi/schema'
import type { z } from 'zod'
import type { Role } from './roles.ts'

export { and, or }

/** The word with a capital letter. */
export const upper = (word: string) => word.replace(/^./, (letter) => letter.toUpperCase())
/** `an item`, but `a user`, `a unit`. */
export const article = (word: string) => (/^(?:[aeio]|u(?!s|ni))/.test(word) ? 'an' : 'a')

/** @param search the fields that `q` searches */
export function searchDescription(search: readonly string[]): string {
  return `Only records that contain every word, in ${or(search)}, ignoring case and how accents are composed. A word of 2 characters matches the beginning of a word, a longer one any part of a field; in Korean and in scripts without spaces, such as Chinese, 2 characters match any part.`
}

/** @param filters the filters of a list */
export function listDescription(filters: string[]): string {
  if (filters.length === 0) return 'Sort with `sort`.'
  return `Filter with ${and(filters.map((name) => `\`${name}\``))}; sort with \`sort\`.`
}

const COUNTED = ['', 'The field is', 'Both fields are', 'All three fields are', 'All four fields are']

/** What a request without some fields means. @param rule what an omitted field means */
export function fieldsDescription(
  fields: Record<string, z.ZodType>,
  rule: (name: string, value: string) => string,
): string {
  const defaults = Object.entries(fields).flatMap(([name, field]) => {
    const { initial } = factsOf(field)
    return initial === undefined ? [] : [rule(`\`${name}\``, initial === null ? 'null' : `\`${initial}\``)]
  })
  if (defaults.length > 0) return `${defaults.join('; ')}.`
  return `${COUNTED[Object.keys(fields).length] ?? 'All fields are'} required.`
}

/** A sentence for each value whose records only some roles may change or delete. */
export function recordRoles(one: string, valueRoles: Record<string, Record<string, Role> | undefined> = {}): string[] {
  return Object.entries(valueRoles).flatMap(([field, roles = {}]) =>
    Object.entries(roles).map(
      ([value, role]) =>
        `Changing or deleting ${article(one)} ${one} whose \`${field}\` is \`${value}\` requires the role \`${role}\`.`,
    ),
  )
}
