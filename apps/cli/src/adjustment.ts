import { parseValue } from '@resource/import'
import { invalid } from './failures.ts'
import type { Field } from './fields.ts'
import { ID, IF_VERSION } from './procedures.ts'

export function isAdjustable({ name, kind }: Field): boolean {
  return kind === 'number' && ![ID, IF_VERSION].includes(name)
}

/**
 * Parses the values of `--add price=5` or `--multiply price=1.1`.
 *
 * @throws Failure for another form than FIELD=NUMBER, such as a decimal comma
 */
export function amountsOf(option: string, texts: string[], fields: Field[]): Record<string, number> {
  const numbers = fields.filter(isAdjustable).map(({ name }) => name)
  const amounts = texts.map((text): [string, number] => {
    const [field = '', amount = ''] = text.split('=')
    if (!numbers.includes(field)) {
      throw invalid(`${option}: must be FIELD=NUMBER, with FIELD one of: ${numbers.join(', ') || 'none'}`)
    }
    const by = parseValue('number', amount)
    if (typeof by === 'number' && Number.isFinite(by)) return [field, by]
    throw invalid(`${option}: "${amount}" is not a number: must be ${field}=NUMBER, such as ${field}=1.5`)
  })
  return Object.fromEntries(amounts)
}
