import type { Inclusion } from './contract.ts'
import type { Operation } from './implement.ts'
import type { View } from './picked-fields.ts'

/** A reference of the records of a binding, and what reads the records to which it refers. */
export interface Included extends Inclusion {
  name: string
  one: Operation<never>
  many: Operation<never>
  /** How the answer to the query for one shows it. */
  view: View
  versionField: string
}

/** The fields to read, with those of references. */
export function shownWith(shown: View['shown'], references: readonly Included[]): View['shown'] {
  return shown && [...new Set([...shown, ...references.map(({ field }) => field)])]
}

type Row = Record<string, unknown>

/**
 * The view with the included records, which it reads with one query for each reference.
 *
 * @param given what the view shows: a record or a list
 */
export async function withIncluded<Context>(
  view: View,
  given: unknown,
  references: readonly Included[],
  context: Context,
): Promise<View> {
  const rows = (Array.isArray(given) ? given : [given]) as Row[]
  const all = await Promise.all(references.map((reference) => recordsOf(reference, rows, context)))
  const parse = (output: unknown) => {
    const answer = view.shows().parse(output)
    const answered = (Array.isArray(answer) ? answer : [answer]) as Row[]
    for (const [index, record] of answered.entries()) {
      for (const [at, { name, field, view }] of references.entries()) {
        const found = all[at]?.get(rows[index]?.[field])
        record[name] = found === undefined ? null : view.shows().parse(found)
      }
    }
    return answer
  }
  // The versions of the included records, too: the answer changes with each of them.
  const tags = references.map(({ name, field, view, versionField }, at) => {
    const found = all[at]?.get(rows[0]?.[field])
    return `${name}.${found === undefined ? 0 : `${rows[0]?.[field]}.${found[versionField]}.${view.form()}`}`
  })
  return { ...view, shows: () => ({ parse }), form: (envelope) => [view.form(envelope), ...tags].join('-') }
}

/** The records to which rows refer, by id. */
async function recordsOf<Context>(
  { field, by, key, one, many, view }: Included,
  rows: readonly Row[],
  context: Context,
): Promise<Map<unknown, Row>> {
  await (one as Operation<Context>).admit(context)
  const ids = [...new Set(rows.map((row) => row[field]).filter((id) => id != null))]
  if (ids.length === 0) return new Map()
  const input = { [by]: ids, limit: ids.length }
  // The filter is no input of callers, so the schema of the query does not have it.
  const parse = () => ({ success: true, data: input }) as const
  const shown = view.shown && [...new Set([...view.shown, key])]
  const output = (await (many as Operation<Context>).call(input, context, { shown, parse })) as Row
  const { responseBody } = many.procedure.meta.openapi
  const found = (responseBody === undefined ? output : output[responseBody]) as Row[]
  return new Map(found.map((record) => [record[key], record]))
}
