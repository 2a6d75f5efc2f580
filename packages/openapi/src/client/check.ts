import type { Contract } from '../contract.ts'
import { serviceError } from './errors.ts'

interface Checked {
  output: { safeParse: (answer: unknown) => { error?: { issues: { path: PropertyKey[]; message: string }[] } } }
}

/**
 * Checks answers against the output schemas of their procedures. An answer that fits is passed on as it came: fields
 * that a newer service adds stay.
 *
 * @returns throws a ContractError which names the fields that do not fit
 */
export function checker(contract: Contract): (path: string, answer: unknown) => void {
  return (path, answer) => {
    const [noun, verb] = path.split('.') as [string, string]
    const procedure = contract[noun]?.procedures[verb] as Checked | undefined
    const { error } = procedure?.output.safeParse(answer) ?? {}
    if (error === undefined) return
    const fields = error.issues.map(({ path, message }) => ({ field: path.join('.'), message }))
    const words = fields.map(({ field, message }) => `${field}: ${message}`).join('; ')
    const broken = serviceError('broken_contract', { status: 0, message: `${path} broke the contract: ${words}` })
    broken.fields.push(...fields)
    throw broken
  }
}
