import { createClient } from '@resource/client'
import { createTestServer } from '@resource/server/testing'
import { expect, test } from 'vitest'
import { priceReport } from '../src/price-report.ts'

test('the report has a line for each category with its range of prices', async () => {
  await using server = await createTestServer({
    seed: {
      items: [
        { name: 'Lamp', price: 24.5, category: 'lighting' },
        { name: 'Bulb', price: 9.5, category: 'lighting' },
        { name: 'Rug', price: 80 },
      ],
    },
  })
  expect(await priceReport(createClient({ baseUrl: server.url }))).toEqual([
    'lighting: 2 items from 9.5 to 24.5',
    'no category: 1 item from 80 to 80',
  ])
})
