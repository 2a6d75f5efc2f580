import type { Exchange } from '@resource/openapi/contract'
import { z } from 'zod'
import { must } from './fields.ts'
import { or } from './words.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000
// There are never more records than ids, so larger page numbers are all equivalent.
const MAX_PAGE = 2 ** 31 - 1

/** The number of records that `page` can skip: skipping them costs as much as reading them. */
export const MAX_SKIPPED = 100_000

const wholeRule = must('a whole number, 1 or more')
// Not z.int, which rejects numbers beyond the exact ones: a page or limit may be of any size.
const atLeastOne = z
  .number(wholeRule)
  .refine(Number.isInteger, wholeRule)
  .min(1, wholeRule)
  .meta({ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** @param what the things that are limited: `Records per page` */
export function limitOf(what: string, limit: number) {
  return atLeastOne
    .transform((limit) => Math.min(limit, MAX_LIMIT))
    .prefault(limit)
    .meta({ description: `${what}. Values over ${MAX_LIMIT} are treated as ${MAX_LIMIT}.` })
}

/**
 * The input of a list: `filters`, `page`, `limit`, `sort`, `after` and `count`.
 *
 * @param sortable the attributes that `sort` accepts
 * @param defaultSort the order without `sort`
 */
export function listInput<F extends z.ZodRawShape, A extends string>(
  filters: F,
  sortable: readonly A[],
  defaultSort = 'id_asc',
) {
  const sorts = sortable.flatMap((attribute) => [`${attribute}_asc`, `${attribute}_desc`] as const)
  return z
    .strictObject({
      ...filters,
      page: atLeastOne
        .transform((page) => Math.min(page, MAX_PAGE))
        .optional()
        .meta({ description: 'Page number, starting at 1. A page past the end is empty.' }),
      limit: limitOf('Records per page', DEFAULT_LIMIT),
      sort: z
        .enum(sorts, must(`<attribute>_asc or <attribute>_desc, where the attribute is ${or(sortable)}`))
        .optional()
        .meta({ description: `Sort order; \`${defaultSort}\` by default. Ties are sorted by ascending \`id\`.` }),
      after: z.string(must('a cursor')).max(4096, must('a cursor')).optional().meta({
        pattern: '^[\\w-]*$',
        description:
          'Cursor for paging without page numbers. Send it empty for the first page, then use the cursor of the next page. Every page costs the same.',
      }),
      count: z
        .boolean(must('true or false'))
        .default(false)
        .meta({ description: 'Whether to count all matching records.' }),
    })
    .refine((input) => (input as PageInput).page === undefined || (input as PageInput).after === undefined, {
      path: ['after'],
      error: 'cannot be combined with page: use a page number or a cursor',
    })
}

/** The records of one page or of a bulk create: at most 1,000. */
export function pageOf<S extends z.ZodType>(record: S) {
  return z.array(record).meta({ maxItems: MAX_LIMIT })
}

const SEARCHED =
  'Only if the database has no search index: the search covered this number of records, the first ones in sort order.'

/** The output of a list in addition to its records. REST has it in `Link`, `X-Total-Count` and the envelope's `meta`. */
export const pageFacts = {
  page: z.int().optional().meta({ description: 'The page number; absent if `after` is used.' }),
  limit: z.int(),
  next: z.string().nullable().meta({ description: 'Cursor of the next page, for `after`; null on the last page.' }),
  total: z.int().optional().meta({ description: 'The number of matching records; only with `count`.' }),
  searched: z.int().optional().meta({ description: SEARCHED }),
}

/** The output of a list of a collection in addition to its records. */
export const collectionFacts = {
  ...pageFacts,
  changes_cursor: z
    .string()
    .optional()
    .meta({
      description: 'A position before the list in the feed of changes, for its `after`.',
      examples: ['42-mi5k3w8q'],
    }),
}

type Facts = z.output<z.ZodObject<typeof collectionFacts>>
interface PageInput {
  page?: number | undefined
  after?: string | undefined
}

export const pageHeaders = {
  Link: {
    description:
      'Links to other pages (RFC 8288): `first`, `prev`, `next`, and `last` with `count=true`. Beyond the page numbers, `next` has a cursor, and `last` is absent.',
    value: links,
  },
  'X-Total-Count': {
    description: 'The number of matching records; only with `count=true`.',
    schema: z.string().regex(/^\d+$/),
    value: ({ output }: { output: Facts }) => output.total?.toString(),
  },
}

/** The headers of a list of a collection. */
export const collectionHeaders = {
  ...pageHeaders,
  'X-Changes-Cursor': {
    description:
      'A position in the feed of changes, for its `after`: all pages, and the changes after the position of the first page, are an exact copy.',
    value: ({ output }: { output: Facts }) => output.changes_cursor,
  },
}

/** The headers of a list that can be searched. */
export const searchHeaders = {
  ...collectionHeaders,
  'X-Searched-Count': {
    description: SEARCHED,
    schema: z.string().regex(/^\d+$/),
    value: ({ output }: { output: Facts }) => output.searched?.toString(),
  },
}

function links({ path, query, input, output }: Exchange<PageInput, Facts>): string {
  let target = `${/[<>"\s]/.test(path) ? path.replace(/[<>"\s]/g, encodeURIComponent) : path}?`
  const others = query.filter(([name]) => name !== 'page' && name !== 'after')
  for (const [name, value] of others) target += `${encoded(name)}=${encoded(value)}&`
  const link = (rel: string, name: 'page' | 'after', value: string | number) =>
    `<${target}${name}=${encoded(`${value}`)}>; rel="${rel}"`
  const usesCursor = input.after !== undefined
  const { page = 1, limit, next, total } = output
  const isReachable = (page: number) => (page - 1) * limit <= MAX_SKIPPED
  let all = usesCursor ? link('first', 'after', '') : link('first', 'page', 1)
  // Cursors only lead forward, so a list read by cursor has no `prev`.
  if (page > 1) all += `, ${link('prev', 'page', page - 1)}`
  if (next !== null)
    all += `, ${usesCursor || !isReachable(page + 1) ? link('next', 'after', next) : link('next', 'page', page + 1)}`
  const last = total === undefined ? undefined : Math.max(1, Math.ceil(total / limit))
  if (last !== undefined && isReachable(last)) all += `, ${link('last', 'page', last)}`
  return all
}

// Most text needs no encoding, and the test is cheaper than `encodeURIComponent`.
function encoded(text: string): string {
  return /^[\w.~-]*$/.test(text) ? text : encodeURIComponent(text)
}
