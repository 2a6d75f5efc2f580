import { factsOf } from '@resource/openapi/schema'
import { z } from 'zod'
import { must, type Reference, referenceOf } from './fields.ts'

const amount = z.number(must('a number')).optional()
type Unwrapped<S> = S extends { unwrap(): infer Inner } ? Unwrapped<Inner> : S
/** The fields of a shape that are numbers, but no ids. */
type NumberFields<F extends z.ZodRawShape> = {
  [N in keyof F as Unwrapped<F[N]> extends Reference
    ? never
    : NonNullable<z.output<F[N]>> extends number
      ? N
      : never]: typeof amount
}

function changesOf<F extends z.ZodRawShape>(set: z.ZodObject<F>) {
  const isNumber = (name: string) => {
    const field = set.shape[name] as z.ZodType
    return /number|integer/.test(factsOf(field).type) && referenceOf(field) === undefined
  }
  const numbers = Object.keys(set.shape).filter(isNumber)
  const amounts = z.strictObject(Object.fromEntries(numbers.map((name) => [name, amount])), must('an object'))
  return {
    set: set.optional(),
    ...(numbers.length > 0 && {
      add: amounts.optional().meta({ description: 'Amounts to add to numbers of each record.' }),
      multiply: amounts.optional().meta({ description: 'Factors for numbers of each record: 1.1 adds 10 %.' }),
    }),
  } as unknown as MatchingChanges<F>
}

/** A collection without numbers has no `add` and `multiply`. */
export type MatchingChanges<F extends z.ZodRawShape> = { set: z.ZodOptional<z.ZodObject<F>> } & ([
  keyof NumberFields<F>,
] extends [never]
  ? unknown
  : { [How in 'add' | 'multiply']: z.ZodOptional<z.ZodObject<NumberFields<F>>> })

/** What a write of all matching records changes: fields to set, and amounts and factors for numbers; each field once. */
export function matchingChanges<F extends z.ZodRawShape>(fields: z.ZodObject<F>, One: string) {
  return z
    .strictObject(changesOf(fields), must('an object'))
    .superRefine(checkOnce)
    .refine(hasChange, {
      error: 'must have at least one field in set, add or multiply',
      // Not in addition to the error of an unknown field.
      when: ({ issues }) => issues.length === 0,
    })
    .meta({ id: `${One}MatchingChanges` })
}

type Changes = { [How in 'set' | 'add' | 'multiply']?: Record<string, unknown> | undefined }

function checkOnce(changes: unknown, context: z.core.$RefinementCtx): void {
  const seen = new Set<string>()
  for (const [how, values = {}] of Object.entries(changes as Changes)) {
    for (const name of Object.keys(values)) {
      if (seen.has(name))
        context.addIssue({ code: 'custom', path: [how, name], message: 'must be in only one of set, add and multiply' })
      seen.add(name)
    }
  }
}

function hasChange(changes: unknown): boolean {
  return Object.values(changes as Changes).some((values = {}) => Object.values(values).some((one) => one !== undefined))
}
