import { createHash } from 'node:crypto'
import { type Contract, contract, type Implementation, type Output } from '@resource/contract'
import { ApiError, FieldError, type Operation } from '@resource/openapi'
import type { Procedure, RestMeta } from '@resource/openapi/contract'
import type { Effect } from './audited-tables.ts'
import type { Context } from './context.ts'
import { MAX_SHOWN, presentEffect } from './effect.ts'
import { ManyMatch } from './matching-writes.ts'
import { invalid } from './refusals.ts'

type Call = Operation<Context>['call']
type Preview = Output<'previews', 'create'>

/** Ends a write with its effect, and undoes it. */
class Previewed extends ApiError {
  readonly effect: Effect

  constructor(effect: Effect) {
    super(409, 'This was a preview; nothing was changed')
    this.effect = effect
  }
}

/** Calls writes by the names of their procedures. */
export interface NamedWrites {
  /** @throws ApiError as the write, with fields by their paths in the field `input` */
  call: (name: string, input: object, context: Context) => Promise<void>
  /** What a write would do: it runs with all its checks, and its transaction is undone. */
  preview: (name: string, input: object, context: Context) => Promise<Effect>
}

/** @param calls of the procedures, by name: `items.update` */
export function namedWrites(calls: ReadonlyMap<string, Call>): NamedWrites {
  const call: NamedWrites['call'] = async (name, input, context) => {
    const operation = calls.get(name)
    if (operation === undefined) throw new ApiError(409, `The service has no ${name} any more`)
    try {
      await operation(input, { ...context, headers: undefined }, { isStrict: context.isStrict === true })
    } catch (error) {
      throw error instanceof FieldError ? error.withPaths((path) => ['input', ...path]) : error
    }
  }
  return {
    call,
    preview: async (name, input, context) => {
      const settle = async (effect: Effect) => {
        throw new Previewed(effect)
      }
      try {
        await call(name, input, { ...context, once: undefined, settle, isDryRun: true })
      } catch (error) {
        if (error instanceof Previewed) return error.effect
        throw error
      }
      throw new Error(`${name} ended without a write`)
    },
  }
}

/** Previews writes. @param stepRows how many records a step of a large write has */
export function previewService(writes: NamedWrites, stepRows: number): Implementation<Context>['previews'] {
  return {
    create: async ({ operation, input: given }, caller) => {
      const name = writeNamed(operation)
      const input = withoutKey(given)
      // For proposers a preview is that of a proposal, which others carry out. Other roles preview what they can do themselves.
      const context = caller.caller.role === 'proposer' && isProposable(name) ? forOthers(caller) : caller
      const previewed = async (input: object, context: Context) =>
        presentEffect(await writes.preview(name, input, context))
      try {
        return await previewed(input, context)
      } catch (error) {
        if (error instanceof ManyMatch) return inSteps(error.ids, stepRows, previewed, input, context)
        throw error
      }
    },
  }
}

/** Previews ranges of ids, each in a transaction of its own, so that other writes go on in between. */
async function inSteps(
  ids: number[],
  rows: number,
  previewed: (input: object, context: Context) => Promise<Preview>,
  input: object,
  context: Context,
): Promise<Preview> {
  // Before the first step: a later refusal would waste those before it.
  context.spend?.({ rows: ids.length })
  const spend: Context['spend'] = (work) => ('readMs' in work ? context.spend?.(work) : undefined)
  const all: Preview & { steps: object[] } = { effect: '', created: 0, updated: 0, deleted: 0, changes: [], steps: [] }
  const hash = createHash('sha256')
  for (let start = 0; start < ids.length; start += rows) {
    if (context.isGone?.()) throw new ApiError(409, 'The caller did not wait for the preview')
    const some = ids.slice(start, start + rows)
    const range = { id_gte: some[0] as number, id_lt: ids[start + rows] ?? (some.at(-1) as number) + 1 }
    const { effect, created, updated, deleted, changes } = await previewed(
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

/** The input of a write without the idempotency key, which a preview does not use, but which must be valid. @throws FieldError 400 */
export function withoutKey({ idempotency_key: key, ...input }: Record<string, unknown>): Record<string, unknown> {
  const { error } = contract.previews.procedures.create.input.shape.idempotency_key.safeParse(key)
  if (error !== undefined) throw invalid('input.idempotency_key', error.issues[0]?.message ?? 'is invalid')
  return input
}

/** Whether a write can be proposed: its changes can be shown, and undone. */
export function isProposable(name: string): boolean {
  const noun = name.slice(0, name.indexOf('.')) as keyof Contract
  return noun === 'reversals' || 'collection' in contract[noun]
}

/** The schema of the input of a write. */
export function inputOf(name: string): Procedure['input'] {
  const [noun, verb] = name.split('.') as ['items', 'update']
  return contract[noun].procedures[verb].input
}

/** The context of the preview of a write that others may carry out: they have the rights that the caller may lack. */
export function forOthers(context: Context): Context {
  const { caller } = context
  return caller.role === 'admin' ? context : { ...context, caller: { ...caller, role: 'admin' } }
}

const names = writesByName(contract)

/** The name of a write by itself or by an operationId. @throws FieldError 400 */
export function writeNamed(operation: string): string {
  const name = names.get(operation)
  if (name !== undefined) return name
  throw invalid('operation', 'must be the operationId of a write or its procedure, such as items.update')
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
