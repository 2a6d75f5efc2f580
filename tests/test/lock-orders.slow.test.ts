import { expect, test } from 'vitest'
import { countOf, writeInRandomOrders } from '../src/scenarios/lock-orders.ts'

test('twelve callers that write the same records in random orders cause no deadlock and get no 5xx', async () => {
  const { busy, statuses, deadlocks } = await writeInRandomOrders(5_000)
  expect(deadlocks).toBe(0)
  expect([...statuses].filter(([status]) => /^(?:5|0)/.test(status))).toEqual([])
  expect(countOf(statuses, /^200/)).toBeGreaterThan(0)
  expect(busy.failed).toBe(0)
})
