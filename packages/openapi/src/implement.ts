import { ApiError, toApiError } from './api-error.ts'
import { type HeaderSource, headerFieldsOf, type ResolvedBinding, resolveBindings, subsetFields } from './bindings.ts'
import type { Contract, Implementation, Middleware, OpenStream, Procedure, Resource, Run } from './contract.ts'
import { list } from './field-error.ts'
import { type Awaitable, isPromise } from './hook.ts'
import { type Parser, parserOf } from './parser.ts'
import { shapeOf } from './schema.ts'
import { answerFields, unknownFieldsCheck } from './unknown-fields.ts'
import { validate, validateRows } from './validate.ts'

/** How a binding parses the input and which fields it shows. */
interface BindingView {
  /** The record fields that the response contains. Default: all. */
  shown?: readonly string[] | undefined
  /** The input parser of the binding. Default: that of the procedure. */
  parse?: Parser | undefined
  /** The input fields that the request has as text. */
  fromText?: ReadonlySet<PropertyKey>
  /** Answers with a stream. */
  open?: OpenStream | undefined
  /** Whether to reject unknown fields. Default: they are ignored. */
  isStrict?: boolean
  /** The fields of the response, which a strict caller can send. Default: those of the procedure's output. */
  answered?: () => ReadonlySet<string>
}

/** A procedure of the contract with its implementation. */
export interface Operation<Context> {
  /** `users.get` */
  name: string
  resource: Resource
  procedure: Procedure
  /** The input fields that the first binding reads from request headers. */
  headers: HeaderSource[]
  /**
   * Checks the role of the caller, validates `input` and runs the implementation. REST, tRPC and in-process calls all use
   * this function.
   *
   * @throws ApiError and no other error; it names fields by their paths in `input`
   */
  call: (input: unknown, context: Context, view?: BindingView) => Promise<unknown>
  /** Checks the role of the caller, before any other work on a request. @throws ApiError 401 or 403 */
  admit: (context: Context) => Awaitable<void>
  /**
   * The 404 for a missing record that `input` names. It takes precedence over all other errors of a write. Undefined if
   * the record exists or `input` names none.
   */
  findMissing: (input: unknown, context: Context) => Promise<ApiError | undefined>
}

type AnyRun<Context> = Run<unknown, Context, unknown>

export interface ImplementOptions<Context> {
  /** Converts a known error of a lower layer to an ApiError; returns undefined for any other error. */
  translate?: (error: unknown) => Awaitable<ApiError | undefined>
  /** Throws, or rejects with, an ApiError 401 or 403 unless the caller has the role of the procedure. */
  authorize?: (context: Context, access: string | undefined) => Awaitable<void>
  /** Wraps the `call` of each operation once at startup, for example to measure calls. */
  observe?: (name: string, call: Operation<Context>['call']) => Operation<Context>['call']
}

const DEFAULT_VIEW: BindingView = {}

/**
 * Combines a contract with its implementation. A missing or extra procedure, or one of the wrong type, does not compile.
 *
 * @throws Error that names the procedures without an implementation, or if `observe` does not return a function
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
  const conditions = headerFieldsOf(contract)

  const asApiError = async (error: unknown): Promise<ApiError> => {
    if (error instanceof ApiError) return error
    try {
      return (await translate(error)) ?? toApiError(error)
    } catch (thrown) {
      return toApiError(thrown)
    }
  }

  const entries = implementation as Record<string, Record<string, Entry<Context>>>
  // A cast, such as that of generic rules, hides a missing function from the compiler.
  const missing = Object.entries(contract).flatMap(([noun, { procedures }]) =>
    Object.keys(procedures).flatMap((verb) => (entries[noun]?.[verb] ? [] : [`${noun}.${verb}`])),
  )
  if (missing.length > 0) throw new Error(`No implementation of ${list(missing, ', ')}: add a function for each`)

  const runs = Object.fromEntries(
    Object.entries(entries).map(([noun, entries]) => [
      noun,
      Object.fromEntries(Object.entries(entries).map(([verb, entry]) => [verb, composed(entry)])),
    ]),
  )

  return Object.entries(contract).flatMap(([noun, resource]) =>
    Object.entries(resource.procedures as Record<string, Procedure>).map(([verb, procedure]) => {
      const name = `${noun}.${verb}`
      const run = runs[noun]?.[verb] as AnyRun<Context>
      const parser = parserOf(procedure.input)
      const admit = (context: Context) => authorize(context, procedure.access)
      const firstBinding = firstBindings.get(name) as ResolvedBinding
      const outputFields = answerFields(procedure.output)
      const checkUnknown = unknownFieldsCheck(procedure, subsetFields(firstBinding), conditions)
      const findMissing = missingFinder(resource, procedure, runs[noun] as Record<string, AnyRun<Context>>)
      const call: Operation<Context>['call'] = async (input, context, view = DEFAULT_VIEW) => {
        const { shown, parse = parser, fromText, isStrict = false, answered, open } = view
        try {
          const admitted = admit(context)
          if (isPromise(admitted)) await admitted
          const validated = isPartial(procedure, input)
            ? validateRows(parse, input as Record<string, unknown>, procedure.rows.field, fromText)
            : validate(parse, input, fromText)
          const valid = isPromise(validated) ? await validated : validated
          checkUnknown(input, valid, isStrict ? (answered?.() ?? outputFields) : undefined)
          return await run(valid, context, shown, open)
        } catch (error) {
          const apiError = withData(await asApiError(error), name, procedure)
          throw (apiError.status === 400 && (await findMissing(input, context))) || apiError
        }
      }
      const { headers } = firstBinding
      const observed = observe(name, call)
      if (typeof observed !== 'function') throw new Error(`${name}: observe must return a function`)
      return { name, resource, procedure, headers, admit, findMissing, call: observed }
    }),
  )
}

/** Whether the caller accepts that only the valid rows of the input are processed. */
function isPartial(procedure: Procedure, input: unknown): procedure is Procedure & Required<Pick<Procedure, 'rows'>> {
  if (procedure.rows === undefined || typeof input !== 'object' || input === null) return false
  return (input as Record<string, unknown>)[procedure.rows.partial] === true
}

type Entry<Context> = AnyRun<Context> | readonly [...Middleware[], AnyRun<Context>]

/** Wraps a procedure's function in its middlewares; the first one is the outermost. */
function composed<Context>(entry: Entry<Context>): AnyRun<Context> {
  if (typeof entry === 'function') return entry
  const middlewares = entry.slice(0, -1) as Middleware[]
  return middlewares.reduceRight<AnyRun<Context>>(
    (inner, middleware) => (input, context, shown, open) =>
      middleware(input, context, (changed = input, other = context) => inner(changed, other, shown, open)),
    entry.at(-1) as AnyRun<Context>,
  )
}

/** The same error with only the data that the contract declares. */
function withData(error: ApiError, name: string, { errorData }: Procedure): ApiError {
  const { status, message, fields, headers, reason, data, cause } = error
  if (data === undefined) return error
  const parsed = errorData?.[status]?.safeParse(data)
  if (parsed?.success === false) {
    const text = `${name}: the data of its ${status} error does not match the contract`
    return toApiError(new Error(text, { cause: parsed.error }))
  }
  return new ApiError(status, message, { fields, headers, reason, cause, data: parsed?.data })
}

/** Uses the `lookup` of the procedure or the resource to find what the input of a write names. */
function missingFinder<Context>(
  resource: Resource,
  { type, errors, lookup = resource.lookup }: Procedure,
  runs: Record<string, AnyRun<Context>>,
): Operation<Context>['findMissing'] {
  const found = lookup === undefined ? undefined : resource.procedures[lookup]
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
