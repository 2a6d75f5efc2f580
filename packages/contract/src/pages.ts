import type { Exchange } from '@resource/openapi/contract'
import { z } from 'zod'
import { must } from './fields.ts'

const DEFAULT_LIMIT = 100
const LARGEST_LIMIT = 1000
// However many pages are asked for, there are no more records than ids.
const LARGEST_PAGE = 2 ** 31 - 1

const wholeRule = must('a whole number, 1 or more')
// However large: not z.int, which takes no number beyond those that are exact.
const atLeastOne = z
  .number(wholeRule)
  .refine(Number.isInteger, wholeRule)
  .min(1, wholeRule)
  .meta({ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/**
 * What a list takes: `filters` beside `page`, `limit`, `sort`, `after` and `count`.
 *
 * @param sortable the attributes `sort` may name
 * @param usual the order when it names none
 */
export function listInput<F extends z.ZodRawShape, A extends string>(
  filters: F,
  sortable: readonly A[],
  usual = 'id_asc',
) {
  const sorts = sortable.flatMap((attribute) => [`${attribute}_asc`, `${attribute}_desc`] as const)
  return z
    .strictObject({
      ...filters,
      page: atLeastOne
        .transform((page) => Math.min(page, LARGEST_PAGE))
        .optional()
        .meta({ description: 'Page number, from 1. A page past the end is empty.' }),
      limit: atLeastOne
        .transform((limit) => Math.min(limit, LARGEST_LIMIT))
        .prefault(DEFAULT_LIMIT)
        .meta({ description: `Records per page; over ${LARGEST_LIMIT} is taken as ${LARGEST_LIMIT}.` }),
      sort: z
        .enum(sorts, must(`<attribute>_asc or <attribute>_desc, where the attribute is one of ${sortable.join(', ')}`))
        .optional()
        .meta({ description: `Order of the list, \`${usual}\` when absent; \`id\` ascending breaks ties.` }),
      after: z.string(must('a cursor')).max(4096, must('a cursor')).optional().meta({
        pattern: '^[\\w-]*$',
        description:
          'Walks the list by key instead of page number: empty to begin, then the cursor of the `next` link. Every step costs the same.',
      }),
      count: z
        .boolean(must('true or false'))
        .default(false)
        .meta({ description: 'Count all records that match, for `X-Total-Count` and the `last` link.' }),
    })
    .refine((input) => (input as Asked).page === undefined || (input as Asked).after === undefined, {
      path: ['after'],
      error: 'must not stand beside page: a list is read by page number or by cursor',
    })
}

/** The records of one page, or of a bulk create: 1,000 at most. */
export function pageOf<S extends z.ZodType>(record: S) {
  return z.array(record).meta({ maxItems: LARGEST_LIMIT })
}

/** What a list gives beside its records; over REST it stands in `Link`, `X-Total-Count` and the envelope's `meta`. */
export const pageFacts = {
  page: z.int().optional().meta({ description: 'The page number; absent on a walk by cursor.' }),
  limit: z.int(),
  next: z.string().nullable().meta({ description: 'Cursor of what follows, for `after`; null at the end.' }),
  total: z.int().optional().meta({ description: 'How many records match; only when `count` was asked for.' }),
}

type Facts = z.output<z.ZodObject<typeof pageFacts>>
interface Asked {
  page?: number | undefined
  after?: string | undefined
}

export const pageHeaders = {
  Link: {
    description: 'Where the list goes on (RFC 8288): `first`, `prev`, `next`, and `last` when the total was asked for.',
    value: links,
  },
  'X-Total-Count': {
    description: 'How many records match; only with `count=true`.',
    schema: z.string().regex(/^\d+$/),
    value: ({ output }: { output: Facts }) => output.total?.toString(),
  },
}

function links({ path, query, input, output }: Exchange<Asked, Facts>): string {
  let target = `${/[<>"\s]/.test(path) ? path.replace(/[<>"\s]/g, encodeURIComponent) : path}?`
  for (const [name, value] of query) {
    if (name !== 'page' && name !== 'after') target += `${encoded(name)}=${encoded(value)}&`
  }
  const link = (rel: string, name: 'page' | 'after', value: string | number) =>
    `<${target}${name}=${encoded(`${value}`)}>; rel="${rel}"`
  const walking = input.after !== undefined
  const { page = 1, next, total } = output
  let all = walking ? link('first', 'after', '') : link('first', 'page', 1)
  // A walk by cursor goes one way.
  if (page > 1) all += `, ${link('prev', 'page', page - 1)}`
  if (next !== null) all += `, ${walking ? link('next', 'after', next) : link('next', 'page', page + 1)}`
  if (total !== undefined) all += `, ${link('last', 'page', Math.max(1, Math.ceil(total / output.limit)))}`
  return all
}

// Most text is plain, and to see that takes less than to encode it.
function encoded(text: string): string {
  return /^[\w.~-]*$/.test(text) ? text : encodeURIComponent(text)
}
