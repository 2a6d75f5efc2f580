import { createHash } from 'node:crypto'
import { type Contract, contract, type Implementation, type Output } from '@resource/contract'
import { ApiError, FieldError, type Operation } from '@resource/openapi'
import type { RestMeta } from '@resource/openapi/contract'
import type { Effect } from './audited-tables.ts'
import type { Context } from './context.ts'
import { MAX_SHOWN, presentEffect } from './effect.ts'
import { ManyMatch } from './matching-writes.ts'
import { invalid } from './refusals.ts'

type Call = Operation<Context>['call']
type Preview = Output<'previews', 'create'>

/** Ends the write of a preview, which is undone. */
class Previewed extends ApiError {
  readonly effect: Effect

  constructor(effect: Effect) {
    super(409, 'This was a preview; nothing was changed')
    this.effect = effect
  }
}

/**
 * Previews writes: each runs with all its checks, and its transaction is undone.
 *
 * @param calls of the procedures, by name: `items.update`
 * @param stepRows how many records a step of a large write has
 */
export function previewService(
  calls: ReadonlyMap<string, Call>,
  stepRows: number,
): Implementation<Context>['previews'] {
  const writes = writesByName(contract)
  return {
    create: async ({ operation, input: { idempotency_key: key, ...input } }, context) => {
      checkKey(key)
      const call = calls.get(writes.get(operation) ?? '')
      if (call === undefined) {
        throw invalid('operation', 'must be the operationId of a write or its procedure, such as items.update')
      }
      try {
        return await previewed(call, input, context)
      } catch (error) {
        if (error instanceof ManyMatch) return inSteps(error.ids, stepRows, call, input, context)
        throw error
      }
    },
  }
}

async function previewed(call: Call, input: object, context: Context): Promise<Preview> {
  const settle = (effect: Effect) => {
    throw new Previewed(effect)
  }
  try {
    await call(input, { ...context, headers: undefined, settle }, { isStrict: context.isStrict === true })
  } catch (error) {
    if (error instanceof Previewed) return presentEffect(error.effect)
    throw error instanceof FieldError ? error.withPaths((path) => ['input', ...path]) : error
  }
  throw new Error('The call ended without a write')
}

/** Previews ranges of ids, each in a transaction of its own, so that other writes go on in between. */
async function inSteps(ids: number[], rows: number, call: Call, input: object, context: Context): Promise<Preview> {
  // Before the first step: a later refusal would waste those before it.
  context.spend?.({ rows: ids.length })
  const spend: Context['spend'] = (work) => ('readMs' in work ? context.spend?.(work) : undefined)
  const all: Preview & { steps: object[] } = { effect: '', created: 0, updated: 0, deleted: 0, changes: [], steps: [] }
  const hash = createHash('sha256')
  for (let start = 0; start < ids.length; start += rows) {
    const some = ids.slice(start, start + rows)
    const range = { id_gte: some[0] as number, id_lt: ids[start + rows] ?? (some.at(-1) as number) + 1 }
    const { effect, created, updated, deleted, changes } = await previewed(
      call,
      { ...input, ...range },
      { ...context, ...(context.spend && { spend }) },
    )
    const count = created + updated + deleted
    if (count === 0) continue
    all.steps.push({ ...range, count, effect })
    hash.update(effect)
    all.created += created
    all.updated += updated
    all.deleted += deleted
    all.changes.push(...changes.slice(0, MAX_SHOWN - all.changes.length))
  }
  return { ...all, effect: hash.digest('base64url') }
}

/** A preview does not use the key of the write, but the write must be as valid as it. @throws FieldError 400 */
function checkKey(key: unknown): void {
  const { error } = contract.previews.procedures.create.input.shape.idempotency_key.safeParse(key)
  if (error !== undefined) throw invalid('input.idempotency_key', error.issues[0]?.message ?? 'is invalid')
}

/** The names of the procedures that write, by themselves and by the operationIds of their bindings. */
function writesByName(all: Contract): Map<string, string> {
  const names = new Map<string, string>()
  for (const [noun, { procedures }] of Object.entries(all)) {
    for (const [verb, { type, meta }] of Object.entries(procedures)) {
      const name = `${noun}.${verb}`
      if (type !== 'mutation' || noun === 'previews') continue
      const { operationId, additionalBindings = [] }: RestMeta = meta.openapi
      for (const each of [name, operationId, ...additionalBindings.map((binding) => binding.operationId)])
        if (each !== undefined) names.set(each, name)
    }
  }
  return names
}
