import { mutation, type Procedure } from '@resource/openapi/contract'
import { factsOf } from '@resource/openapi/schema'
import { z } from 'zod'
import type { RestOf } from './declaration.ts'
import { count, idempotencyKey, message, must, type Reference, recordId, referenceOf, writeHeaders } from './fields.ts'
import type { Role } from './roles.ts'
import { or } from './words.ts'

/** The most records that a write by filter changes or deletes. */
export const MAX_MATCHING = 10_000

/** The most records whose changes a preview shows, in steps if they are too many for a write. */
export const MAX_PREVIEWED = 100_000

const limit = MAX_MATCHING.toLocaleString('en')
const idsRule = must(`a list of 1 to ${limit} ids`)
const wholeNumber = z.int(must('a whole number')).optional()

/** The bounds of ids, which lists have, too. */
export const idBounds = {
  id_gte: wholeNumber.meta({ description: 'Only ids from this one: 1 for all records.' }),
  id_lt: wholeNumber.meta({ description: 'Only ids below this one.' }),
}

/** The filters by id of writes. */
const byId = {
  id_in: z
    .array(recordId.meta({ description: 'Any integer. An id without a record matches none.' }), idsRule)
    .min(1, idsRule)
    .max(MAX_MATCHING, idsRule)
    .optional()
    .meta({ description: 'Only these ids.', param: { style: 'form', explode: false } }),
  ...idBounds,
}

type ById = typeof byId
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
type MatchingChanges<F extends z.ZodRawShape> = { set: z.ZodOptional<z.ZodObject<F>> } & ([
  keyof NumberFields<F>,
] extends [never]
  ? unknown
  : { [How in 'add' | 'multiply']: z.ZodOptional<z.ZodObject<NumberFields<F>>> })

const updated = z.object({ matched: count, changed: count }).meta({ id: 'MatchingUpdate' })
const deleted = message.extend({ removed: count }).meta({ id: 'MatchingDeletion' })

/** The procedures that change or delete all matching records. */
export interface MatchingProcedures<L extends z.ZodRawShape, F extends z.ZodRawShape> {
  /** Changes all matching records, or none. At least one filter is required. */
  updateWhere: Procedure<
    'mutation',
    z.ZodObject<L & ById & { changes: z.ZodObject<MatchingChanges<F>>; idempotency_key: typeof idempotencyKey }>,
    typeof updated
  >
  /** Deletes all matching records, or none. At least one filter is required. */
  deleteWhere: Procedure<'mutation', z.ZodObject<L & ById & { idempotency_key: typeof idempotencyKey }>, typeof deleted>
}

interface MatchingOptions<L extends z.ZodRawShape, F extends z.ZodRawShape> {
  noun: string
  One: string
  Many: string
  /** The path of the collection. */
  path: `/${string}`
  filters: L
  /** The fields that a change can set. */
  fields: z.ZodObject<F>
  /** The role that a deletion by other filters than `id_in` requires. */
  purgeRole: Role
}

/** The procedures that change or delete all matching records. */
export function matching<L extends z.ZodRawShape, F extends z.ZodRawShape>(
  { noun, One, Many, path, filters, fields, purgeRole }: MatchingOptions<L, F>,
  rest: RestOf,
) {
  const where = { ...filters, ...byId }
  const names = Object.keys(where)
  // Strict: to ignore another filter would change more records than the caller asked for.
  const filtered = <S extends z.ZodRawShape>(others: S) =>
    z
      .strictObject({ ...where, ...others, idempotency_key: idempotencyKey })
      .refine((input) => names.some((name) => (input as Record<string, unknown>)[name] !== undefined), {
        error: `At least one filter is required: ${or(names)}`,
      })
  const changes = z
    .strictObject(changesOf(fields), must('an object'))
    .superRefine(checkOnce)
    .refine(hasChange, {
      error: 'must have at least one field in set, add or multiply',
      // Not in addition to the error of an unknown field.
      when: ({ issues }) => issues.length === 0,
    })
    .meta({ id: `${One}MatchingChanges` })
  const some = `Requires a filter. At most ${limit} ${noun} may match: a preview divides more into steps.`
  return {
    updateWhere: mutation({
      input: filtered({ changes }),
      output: updated,
      writesMany: true,
      errors: [409],
      ...rest('updateWhere', {
        method: 'PATCH',
        path,
        operationId: `updateMatching${Many}`,
        summary: `Update all matching ${noun}`,
        description: `Changes all matching ${noun}, or none. Sums and products are rounded half up. ${some}`,
        successDescription: `The number of changed ${noun}.`,
        body: 'changes',
        headerParams: writeHeaders,
      }),
    }),
    deleteWhere: mutation({
      input: filtered({}),
      output: deleted,
      writesMany: true,
      errors: [409],
      ...rest('deleteWhere', {
        method: 'DELETE',
        path,
        operationId: `deleteMatching${Many}`,
        summary: `Delete all matching ${noun}`,
        description: `Deletes all matching ${noun}, or none. ${some} Without \`id_in\` it requires the role \`${purgeRole}\` once API keys exist.`,
        successDescription: `The number of deleted ${noun}.`,
        headerParams: writeHeaders,
      }),
    }),
  }
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
