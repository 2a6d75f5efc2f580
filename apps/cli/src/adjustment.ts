import { changedNumber, type NumberChange, parseValue } from '@resource/import'
import { invalid } from './failures.ts'
import type { Field } from './fields.ts'
import { ID, IF_VERSION } from './procedures.ts'

const PRICE_DECIMALS = 2

/** A change of a number of each record by an amount or a factor: `--add price=5`, `--multiply price=1.1`. */
export interface Adjustment {
  field: string
  /** `price × 1.1` */
  text: string
  next: (value: number) => number
}

export function isAdjustable({ name, kind }: Field): boolean {
  return kind === 'number' && ![ID, IF_VERSION].includes(name)
}

/** @throws Failure for another form than FIELD=NUMBER, such as a decimal comma, or for both options */
export function adjustmentOf(
  { add, multiply }: { add?: string; multiply?: string },
  fields: Field[],
): Adjustment | undefined {
  if (add === undefined && multiply === undefined) return undefined
  if (add !== undefined && multiply !== undefined) throw invalid('--add: cannot be combined with --multiply')
  const [option, text = ''] = add === undefined ? ['--multiply', multiply] : ['--add', add]
  const [field = '', amount = ''] = text.split('=')
  const numbers = fields.filter(isAdjustable).map(({ name }) => name)
  if (!numbers.includes(field)) {
    throw invalid(`${option}: must be FIELD=NUMBER, with FIELD one of: ${numbers.join(', ') || 'none'}`)
  }
  const by = parseValue('number', amount)
  if (typeof by !== 'number' || !Number.isFinite(by)) {
    throw invalid(`${option}: "${amount}" is not a number: must be ${field}=NUMBER, such as ${field}=1.5`)
  }
  const change: NumberChange = add === undefined ? { multiply: by } : { add: by }
  const next = (value: number) => changedNumber(value, change, PRICE_DECIMALS)
  return { field, next, text: `${field} ${add === undefined ? '×' : by < 0 ? '-' : '+'} ${Math.abs(by)}` }
}
