import type { Contract } from '../contract.ts'
import { serviceError } from './errors.ts'

interface CheckedProcedure {
  output: { safeParse: (answer: unknown) => { error?: { issues: { path: PropertyKey[]; message: string }[] } } }
}

/**
 * Checks answers against the output schemas of their procedures. A valid answer is returned unchanged, including fields
 * that a newer service adds.
 *
 * @returns a function that throws a ContractError with the invalid fields
 */
export function checker(contract: Contract): (path: string, answer: unknown) => void {
  return (path, answer) => {
    const [noun, verb] = path.split('.') as [string, string]
    const procedure = contract[noun]?.procedures[verb] as CheckedProcedure | undefined
    const { error } = procedure?.output.safeParse(answer) ?? {}
    if (error === undefined) return
    const fields = error.issues.map(({ path, message }) => ({ field: path.join('.'), message }))
    const details = fields.map(({ field, message }) => `${field}: ${message}`).join('; ')
    const broken = serviceError('broken_contract', {
      status: 0,
      message: `${path}: the response does not match the contract: ${details}`,
    })
    broken.fields.push(...fields)
    throw broken
  }
}
