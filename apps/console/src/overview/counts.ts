import { contract } from '@resource/contract'
import { useQuery } from '@tanstack/react-query'
import { client } from '../client.ts'

const { role, status } = contract.users.procedures.update.input.shape
const MAX_PAGES = 20
const PAGE = 1000

export interface Bar {
  label: string
  value: number
  /** The value as text, shown next to the bar and read by screen readers. */
  text: string
}

/** The number of users by role and by status, counted by the service in one batched request. */
export function useUserCounts() {
  return useQuery({
    queryKey: ['users', 'overview'],
    queryFn: async () => {
      const count = async (filter: Parameters<typeof client.users.list.query>[0]) =>
        (await client.users.list.query({ ...filter, limit: 1, count: true })).total ?? 0
      const bar = async (label: string, filter: Parameters<typeof count>[0]) => {
        const value = await count(filter)
        return { label, value, text: value.toLocaleString('en') } satisfies Bar
      }
      const [roles, statuses] = await Promise.all([
        Promise.all(role.unwrap().options.map((option) => bar(option, { role: option }))),
        Promise.all(status.unwrap().options.map((option) => bar(option, { status: option }))),
      ])
      return { roles, statuses }
    },
  })
}

export interface CategoryPrices {
  category: string
  count: number
  lowest: number
  mean: number
  highest: number
}

/** Prices by category. The service has no aggregates, so the console reads the items: at most the first 20,000. */
export function usePrices() {
  return useQuery({
    queryKey: ['items', 'overview'],
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const prices = new Map<string, number[]>()
      let pages = 0
      for await (const { items, next } of client.items.pages({ limit: PAGE }, { signal })) {
        for (const { category, price } of items) {
          const name = category ?? 'no category'
          const known = prices.get(name)
          if (known === undefined) prices.set(name, [price])
          else known.push(price)
        }
        if (++pages === MAX_PAGES && next !== null) return { categories: summed(prices), isPartial: true }
      }
      return { categories: summed(prices), isPartial: false }
    },
  })
}

function summed(prices: Map<string, number[]>): CategoryPrices[] {
  return [...prices]
    .map(([category, list]) => ({
      category,
      count: list.length,
      lowest: list.reduce((a, b) => Math.min(a, b)),
      mean: list.reduce((a, b) => a + b, 0) / list.length,
      highest: list.reduce((a, b) => Math.max(a, b)),
    }))
    .sort((a, b) => b.count - a.count || a.category.localeCompare(b.category))
}
