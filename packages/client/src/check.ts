import type { AppRouter, Contract } from '@resource/contract'
import type { TRPCLink } from '@trpc/client'
import { TRPCClientError } from '@trpc/client'
import { observable } from '@trpc/server/observable'
import { ContractError } from './errors.ts'

interface Checked {
  output: { safeParse: (answer: unknown) => { error?: { issues: { path: PropertyKey[]; message: string }[] } } }
}

/**
 * Checks each answer against the output schema of its procedure. An answer that fits is passed on as it came: fields
 * that a newer service adds stay.
 *
 * @throws ContractError which names the fields that do not fit
 */
export function checkLink(contract: Contract): TRPCLink<AppRouter> {
  return () =>
    ({ op, next }) =>
      observable((observer) =>
        next(op).subscribe({
          next: (envelope) => {
            const [noun, verb] = op.path.split('.') as [keyof Contract, string]
            const procedures = contract[noun].procedures as unknown as Record<string, Checked>
            const answer = 'data' in envelope.result ? envelope.result.data : undefined
            const { error } = procedures[verb]?.output.safeParse(answer) ?? {}
            if (error === undefined) return observer.next(envelope)
            const fields = error.issues.map(({ path, message }) => ({ field: path.join('.'), message }))
            observer.error(new ContractError(new TRPCClientError(`${op.path} broke the contract`), fields))
          },
          error: (error) => observer.error(error),
          complete: () => observer.complete(),
        }),
      )
}
