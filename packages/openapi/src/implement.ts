import type { Contract, Implementation, Procedure, Resource } from './contract.ts'
import { Problem, toProblem } from './problem.ts'
import { dotted, validate } from './validate.ts'

/** A procedure of the contract with its implementation behind it. */
export interface Operation<Context> {
  /** `users.get` */
  name: string
  resource: Resource
  procedure: Procedure
  /**
   * Validates `input` and runs the implementation. Every way into the service (REST, tRPC, in-process) ends here, so
   * what must hold for all of them belongs here.
   *
   * @param label names an input field as the caller knows it
   * @throws Problem and nothing else
   */
  call: (input: unknown, context: Context, label?: (path: readonly PropertyKey[]) => string) => Promise<unknown>
}

/**
 * Joins a contract with its implementation. A procedure that is missing, extra or of a wrong type does not compile.
 *
 * @param translate turns an error of the layers below into a Problem, where it knows it
 */
export function implement<C extends Contract, Context>(
  contract: C,
  implementation: Implementation<C, Context>,
  translate: (error: unknown) => Problem | undefined = () => undefined,
): Operation<Context>[] {
  return Object.entries(contract).flatMap(([noun, resource]) =>
    Object.entries(resource.procedures as Record<string, Procedure>).map(([verb, procedure]) => {
      const run = implementation[noun]?.[verb] as (input: unknown, context: Context) => Promise<unknown>
      return {
        name: `${noun}.${verb}`,
        resource,
        procedure,
        call: async (input, context, label = (path) => dotted(path)) => {
          try {
            return await run(validate(procedure.input, input, label), context)
          } catch (error) {
            throw error instanceof Problem ? error : (translate(error) ?? toProblem(error))
          }
        },
      } satisfies Operation<Context>
    }),
  )
}
