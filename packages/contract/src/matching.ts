import { grouped, mutation, type Procedure } from '@resource/openapi/contract'
import { z } from 'zod'
import type { RestOf } from './declaration.ts'
import { count, idempotencyKey, message, must, recordId, writeHeaders } from './fields.ts'
import { type MatchingChanges, matchingChanges } from './matching-changes.ts'
import type { Role } from './roles.ts'
import { or } from './words.ts'

/** The most records that a write by filter changes or deletes. */
export const MAX_MATCHING = 10_000

/** The most records whose changes a preview shows, in steps if they are too many for a write. */
export const MAX_PREVIEWED = 100_000

const limit = grouped(MAX_MATCHING)
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
  const changes = matchingChanges(fields, One)
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
        description: `Deletes all matching ${noun}, or none. ${some} Without \`id_in\` it requires the role \`${purgeRole}\`.`,
        successDescription: `The number of deleted ${noun}.`,
        headerParams: writeHeaders,
      }),
    }),
  }
}
