import type { Contract, Implementation, Procedure, Resource, Role } from './contract.ts'
import { Problem, toProblem } from './problem.ts'
import { compiled, dotted, validate } from './validate.ts'

/** A procedure of the contract with its implementation behind it. */
export interface Operation<Context> {
  /** `users.get` */
  name: string
  resource: Resource
  procedure: Procedure
  /**
   * Refuses a caller who may not, validates `input` and runs the implementation. Every way into the service (REST, tRPC, in-process) ends here, so
   * what must hold for all of them belongs here.
   *
   * @param label names an input field as the caller knows it
   * @param shown the fields of the record, or of each of a list, that the caller will look at; all when absent
   * @throws Problem and nothing else
   */
  call: (
    input: unknown,
    context: Context,
    label?: (path: readonly PropertyKey[]) => string,
    shown?: readonly string[],
  ) => Promise<unknown>
  /** Refuses a caller who may not call it: for ways in that would do work before `call`. @throws Problem 401 or 403 */
  admit: (context: Context) => void
}

type Run<Context> = (input: unknown, context: Context, shown?: readonly string[]) => Promise<unknown>

export interface ImplementOptions<Context> {
  /** Turns an error of the layers below into a Problem, where it knows it. */
  translate?: (error: unknown) => Problem | undefined
  /** Throws a Problem 401 or 403 unless the caller has the role. */
  authorize?: (context: Context, access: Role) => void
  /** Given the call of each operation, once, to put something around it: what measures calls does that. */
  observe?: (name: string, call: Operation<Context>['call']) => Operation<Context>['call']
}

/**
 * Joins a contract with its implementation. A procedure that is missing, extra or of a wrong type does not compile.
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
  return Object.entries(contract).flatMap(([noun, resource]) =>
    Object.entries(resource.procedures as Record<string, Procedure>).map(([verb, procedure]) => {
      const run = implementation[noun]?.[verb] as Run<Context>
      const name = `${noun}.${verb}`
      const schema = compiled(procedure.input)
      const admit = (context: Context) => authorize(context, procedure.access)
      const call: Operation<Context>['call'] = async (input, context, label = (path) => dotted(path), shown) => {
        try {
          admit(context)
          return await run(validate(schema(), input, label), context, shown)
        } catch (error) {
          throw error instanceof Problem ? error : (translate(error) ?? toProblem(error))
        }
      }
      return { name, resource, procedure, admit, call: observe(name, call) } satisfies Operation<Context>
    }),
  )
}
