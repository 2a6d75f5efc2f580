import type { z } from 'zod'
import { ApiError, toApiError } from './api-error.ts'
import { type HeaderSource, type ResolvedBinding, resolveBindings, shapeOf, subsetFields } from './bindings.ts'
import type { Contract, Implementation, Middleware, Procedure, Resource, Role, Run } from './contract.ts'
import { list, quote } from './field-error.ts'
import { type Awaitable, isPromise } from './hook.ts'
import { type Parser, parserOf, validate } from './validate.ts'

/** How a binding takes and shows what a procedure does. */
interface Via {
  /** The fields of the record, or of each of a list, that the caller will look at; all when absent. */
  shown?: readonly string[] | undefined
  /** The parser of the input as the binding takes it; the procedure's own when absent. */
  parse?: Parser | undefined
}

/** A procedure of the contract with its implementation behind it. */
export interface Operation<Context> {
  /** `users.get` */
  name: string
  resource: Resource
  procedure: Procedure
  /** The input fields that request headers carry, at the first binding. */
  headers: HeaderSource[]
  /**
   * Refuses a caller who may not, validates `input` and runs the implementation. Every way into the service (REST, tRPC, in-process) ends here, so
   * what must hold for all of them belongs here.
   *
   * @throws ApiError and nothing else; it names fields by their paths in `input`
   */
  call: (input: unknown, context: Context, via?: Via) => Promise<unknown>
  /** Refuses a caller who may not call it: for ways in that would do work before `call`. @throws ApiError 401 or 403 */
  admit: (context: Context) => Awaitable<void>
  /**
   * The ApiError 404 of a record that `input` names and that is not stored: it comes before whatever else is wrong with a
   * write. Undefined where the record is stored or the input names none.
   */
  findMissing: (input: unknown, context: Context) => Promise<ApiError | undefined>
}

type AnyRun<Context> = Run<unknown, Context, unknown>

export interface ImplementOptions<Context> {
  /** Turns an error of the layers below into a ApiError, where it knows it. */
  translate?: (error: unknown) => Awaitable<ApiError | undefined>
  /** Throws, or rejects with, a ApiError 401 or 403 unless the caller has the role. */
  authorize?: (context: Context, access: Role) => Awaitable<void>
  /** Given the call of each operation, once, at the start, to put something around it: what measures calls does that. */
  observe?: (name: string, call: Operation<Context>['call']) => Operation<Context>['call']
}

const NO_VIA: Via = {}

/**
 * Joins a contract with its implementation. A procedure that is missing, extra or of a wrong type does not compile.
 *
 * @throws Error when `observe` returns no function
 */
export function implement<C extends Contract, Context>(
  contract: C,
  implementation: Implementation<C, Context>,
  {
    translate = () => undefined,
    authorize = () => undefined,
    observe = (_name, call) => call,
  }: ImplementOptions<Context> = {},
): Operation<Context>[] {
  const firstBindings = new Map<string, ResolvedBinding>()
  for (const resolved of resolveBindings(contract))
    if (!firstBindings.has(resolved.name)) firstBindings.set(resolved.name, resolved)

  const asApiError = async (error: unknown): Promise<ApiError> => {
    if (error instanceof ApiError) return error
    try {
      return (await translate(error)) ?? toApiError(error)
    } catch (thrown) {
      return toApiError(thrown)
    }
  }

  const runs = Object.fromEntries(
    Object.entries(implementation as Record<string, Record<string, Entry<Context>>>).map(([noun, entries]) => [
      noun,
      Object.fromEntries(Object.entries(entries).map(([verb, entry]) => [verb, joined(entry)])),
    ]),
  )

  return Object.entries(contract).flatMap(([noun, resource]) =>
    Object.entries(resource.procedures as Record<string, Procedure>).map(([verb, procedure]) => {
      const name = `${noun}.${verb}`
      const run = runs[noun]?.[verb] as AnyRun<Context>
      const parser = parserOf(procedure.input)
      const admit = (context: Context) => authorize(context, procedure.access)
      const firstBinding = firstBindings.get(name) as ResolvedBinding
      const refuseUnknown = unknownRefusal(firstBinding)
      const findMissing = missingFinder(resource, procedure, runs[noun] as Record<string, AnyRun<Context>>)
      const call: Operation<Context>['call'] = async (input, context, via = NO_VIA) => {
        const { shown, parse = parser } = via
        try {
          const admitted = admit(context)
          if (isPromise(admitted)) await admitted
          const validated = validate(parse, input)
          const valid = isPromise(validated) ? await validated : validated
          refuseUnknown?.(input as object)
          return await run(valid, context, shown)
        } catch (error) {
          const problem = withData(await asApiError(error), name, procedure)
          throw (problem.status === 400 && (await findMissing(input, context))) || problem
        }
      }
      const { headers } = firstBinding
      const observed = observe(name, call)
      if (typeof observed !== 'function') throw new Error(`${name}: observe must return a function`)
      return { name, resource, procedure, headers, admit, findMissing, call: observed }
    }),
  )
}

type Entry<Context> = AnyRun<Context> | readonly [...Middleware[], AnyRun<Context>]

/** A procedure's function with its middlewares around it, the first outermost. */
function joined<Context>(entry: Entry<Context>): AnyRun<Context> {
  if (typeof entry === 'function') return entry
  const middlewares = entry.slice(0, -1) as Middleware[]
  return middlewares.reduceRight<AnyRun<Context>>(
    (inner, middleware) => (input, context, shown) =>
      middleware(input, context, (changed = input, other = context) => inner(changed, other, shown)),
    entry.at(-1) as AnyRun<Context>,
  )
}

/** The same error with the data that the contract lets out, and no other. */
function withData(problem: ApiError, name: string, { errorData }: Procedure): ApiError {
  const { status, message, fields, headers, reason, data, cause } = problem
  if (data === undefined) return problem
  const parsed = errorData?.[status]?.safeParse(data)
  if (parsed?.success === false) {
    const fault = `${name}: the data of its ${status} are not what its contract says`
    return toApiError(new Error(fault, { cause: parsed.error }))
  }
  return new ApiError(status, message, { fields, headers, ...(reason && { reason }), cause, data: parsed?.data })
}

/** Asks the resource's lookup for the record that the input of a write names. */
function missingFinder<Context>(
  { lookup, procedures }: Resource,
  { type, errors }: Procedure,
  runs: Record<string, AnyRun<Context>>,
): Operation<Context>['findMissing'] {
  const found = lookup === undefined ? undefined : procedures[lookup]
  if (lookup === undefined || found === undefined || type !== 'mutation' || !errors?.includes(404)) {
    return async () => undefined
  }
  const fields = Object.keys(shapeOf(found.input))
  const parse = parserOf(found.input)
  return async (input, context) => {
    try {
      const named = await parse(input)
      if (!named.success) return undefined
      await runs[lookup]?.(named.data, context, fields)
      return undefined
    } catch (error) {
      return error instanceof ApiError && error.status === 404 ? error : undefined
    }
  }
}

/**
 * Where any subset of fields is valid, a body of unknown fields alone would change nothing without a word. Fields of the
 * answer are known: a caller may send back what it read.
 */
function unknownRefusal(resolved: ResolvedBinding): ((input: object) => void) | undefined {
  const fields = subsetFields(resolved)
  if (fields === undefined) return undefined
  const answered = (resolved.procedure.output as z.ZodObject).shape ?? {}
  const known = new Set([...Object.keys(shapeOf(resolved.input)), ...Object.keys(answered)])
  return (input) => {
    if (fields.some((field) => Object.hasOwn(input, field))) return
    const unknown = Object.keys(input).filter((name) => !known.has(name))
    if (unknown.length === 0) return
    const message = `No recognized field: ${list(unknown.map(quote), ', ')}; the fields are: ${fields.join(', ')}`
    throw new ApiError(400, message, {
      fields: unknown.map((name) => ({ field: quote(name), message: 'is not a recognized field' })),
    })
  }
}
