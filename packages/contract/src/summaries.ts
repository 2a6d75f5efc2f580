import { type Procedure, query } from '@resource/openapi/contract'
import { z } from 'zod'
import type { RestOf } from './declaration.ts'
import { must, text, timestamp } from './fields.ts'
import { limitOf, pageOf } from './pages.ts'
import { or } from './words.ts'

const figure = z.number().nullable()

const summary = z
  .object({
    value: z.string().nullable().meta({ description: 'The value of `by` in these records; null if they have none.' }),
    count: z.int().min(0).meta({ description: 'The number of records.' }),
    minimum: figure.meta({ description: 'The smallest value of `of`; null if no record has one.' }),
    mean: figure,
    maximum: figure,
  })
  .meta({ id: 'Summary', examples: [{ value: 'lighting', count: 2, minimum: 19.9, mean: 22.2, maximum: 24.5 }] })

const summaries = z.object({ summaries: z.array(summary), as_of: timestamp })

interface SummaryOptions<L extends z.ZodRawShape, G extends string, M extends string> {
  noun: string
  /** The capitalized noun. */
  Many: string
  filters: L
  /** The fields to group by. */
  groups: readonly G[]
  /** The fields with figures. */
  measures: readonly M[]
}

// Not an alias of the type of the procedure: to compare two of those takes the compiler far longer.
export interface SummaryProcedures<L extends z.ZodRawShape, G extends string, M extends string> {
  /** Counts the matching records by the values of a field, with the range and mean of another field. */
  summarize: Procedure<'query', ReturnType<typeof summaryInput<L, G, M>>, typeof summaries>
}

/** The procedure that counts the matching records by the values of a field, with the range and mean of another one. */
export function summarize<L extends z.ZodRawShape, G extends string, M extends string>(
  { noun, Many, filters, groups, measures }: SummaryOptions<L, G, M>,
  rest: RestOf,
): SummaryProcedures<L, G, M>['summarize'] {
  return query({
    description: `Counts the matching ${noun}, largest group first. Without \`by\` there is one group. \`as_of\` is the time of the figures.`,
    input: summaryInput(noun, filters, groups, measures),
    output: summaries,
    ...rest('summarize', {
      method: 'GET',
      path: '/summaries',
      operationId: `summarize${Many}`,
      summary: `Summarize ${noun}`,
      description: `Counts the matching ${noun}, largest group first. Without \`by\` there is one group. The \`Age\` header has the age of the figures in seconds.`,
      successDescription: 'One summary for each group.',
      responseBody: 'summaries',
      response: pageOf(summary),
      envelope: 'summaries',
      headers: {
        Age: {
          description: 'The age of the figures in seconds.',
          schema: z.string().regex(/^\d+$/),
          value: ({ output }: { output: { as_of: string } }) =>
            String(Math.max(0, Math.floor((Date.now() - Date.parse(output.as_of)) / 1000))),
        },
      },
    }),
  })
}

/** A collection without groups or measures has no field for them. */
function summaryInput<L extends z.ZodRawShape, G extends string, M extends string>(
  noun: string,
  filters: L,
  groups: readonly G[],
  measures: readonly M[],
) {
  const by = z.enum(groups as readonly [G, ...G[]], must(or(groups))).optional()
  const of = z.enum(measures as readonly [M, ...M[]], must(or(measures))).optional()
  const prefix = text(1, 200).optional()
  const named = {
    ...(groups.length > 0 && {
      by: by.meta({ description: 'The field to group by.' }),
      prefix: prefix.meta({
        description: 'Only groups whose value begins with this text. Requires `by`.',
        examples: ['li'],
      }),
    }),
    ...(measures.length > 0 && {
      of: of.meta({ description: 'The field whose minimum, mean and maximum to compute.' }),
    }),
  } as { by: typeof by; of: typeof of; prefix: typeof prefix }
  return z.strictObject({ ...filters, ...named, limit: limitOf('Groups', 100) }).refine(
    (input) => {
      const { by, prefix } = input as { by?: string; prefix?: string }
      return prefix === undefined || by !== undefined
    },
    { path: ['prefix'], error: `requires by: the field of ${noun} whose values begin with it` },
  )
}
