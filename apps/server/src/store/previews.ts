import { type Contract, contract, type Implementation } from '@resource/contract'
import { ApiError, FieldError, type Operation } from '@resource/openapi'
import type { RestMeta } from '@resource/openapi/contract'
import type { Effect } from './audited-tables.ts'
import type { Context } from './context.ts'
import { presentEffect } from './effect.ts'
import { invalid } from './refusals.ts'

type Call = Operation<Context>['call']

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
 */
export function previewService(calls: ReadonlyMap<string, Call>): Implementation<Context>['previews'] {
  const writes = writesByName(contract)
  return {
    create: async ({ operation, input: { idempotency_key: key, ...input } }, context) => {
      checkKey(key)
      const call = calls.get(writes.get(operation) ?? '')
      if (call === undefined) {
        throw invalid('operation', 'must be the operationId of a write or its procedure, such as items.update')
      }
      const settle = (effect: Effect) => {
        throw new Previewed(effect)
      }
      try {
        await call(input, { ...context, headers: undefined, settle }, { isStrict: context.isStrict === true })
      } catch (error) {
        if (error instanceof Previewed) return presentEffect(error.effect)
        throw error instanceof FieldError ? error.withPaths((path) => ['input', ...path]) : error
      }
      throw new Error(`${operation} ended without a write`)
    },
  }
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
