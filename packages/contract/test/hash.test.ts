import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { contract } from '../src/index.ts'

// What is said about a field does not change what a client may send and expect.
const WORDS = new Set(['description', 'examples', 'id', '$schema'])

function shape(schema: z.ZodType, io: 'input' | 'output'): unknown {
  return z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      for (const word of WORDS) delete jsonSchema[word as keyof typeof jsonSchema]
    },
  })
}

test('the hash is of what the procedures take and give; `vitest run -u` writes it anew', async () => {
  const shapes = Object.entries(contract).flatMap(([noun, { procedures }]) =>
    Object.entries(procedures).map(([verb, { type, input, output }]) => [
      `${noun}.${verb}`,
      type,
      shape(input, 'input'),
      shape(output, 'output'),
    ]),
  )
  const hash = createHash('sha256').update(JSON.stringify(shapes)).digest('hex').slice(0, 16)
  await expect(`/** Of what the procedures take and give, without a word about them; test/hash.test.ts writes it. */
export const CONTRACT_HASH = '${hash}'
`).toMatchFileSnapshot('../src/hash.ts')
})
