import type { Client } from '@resource/client'
import { contract } from '@resource/contract'

const { one } = contract.items.collection

/**
 * The prices of each category, the one with the most items first: `lighting: 2 items from 9.5 to 24.5`.
 *
 * @throws ServiceError if the service cannot answer
 */
export async function priceReport({ items }: Pick<Client, 'items'>): Promise<string[]> {
  const { summaries } = await items.summarize.query({ by: 'category', of: 'price' })
  return summaries.map(({ value, count, minimum, maximum }) => {
    const records = count === 1 ? one : 'items'
    return `${value ?? 'no category'}: ${count} ${records} from ${minimum} to ${maximum}`
  })
}
