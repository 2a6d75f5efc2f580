import { z } from 'zod'
import { fieldApiError } from './target.ts'
import { and } from './words.ts'

/** A query parameter with one or more of some names. `read` returns those given, in the order of all, or throws an ApiError 400. */
export function namesParameter(
  parameter: string,
  all: string[],
  { description, example }: { description: (rule: string) => string; example: string | undefined },
) {
  const rule = `one or more of ${and(all)}, separated by commas`
  const name = `(?:${all.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')})`
  const schema = z
    .string()
    .max(all.join(',').length)
    .regex(new RegExp(`^${name}(?:,${name})*$`))
    .optional()
    .meta({ description: description(rule), examples: [example] })
  const read = (text: string): string[] => {
    if (!schema.safeParse(text).success) throw fieldApiError(parameter, `must be ${rule}`)
    const given = new Set(text.split(','))
    return all.filter((name) => given.has(name))
  }
  return { schema, read }
}
