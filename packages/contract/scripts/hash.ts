// Fails when src/hash.ts is not of the present contract. With --write it becomes so.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { contract } from '../src/index.ts'

// What is said about a field does not change what a client may send and expect.
const WORDS = new Set(['description', 'examples', 'id', '$schema'])

const file = new URL('../src/hash.ts', import.meta.url)
const text = `/** Of what the procedures take and give, without a word about them. \`npm run openapi:write\` renews it. */
export const CONTRACT_HASH = '${contractHash()}'
`

if (process.argv.includes('--write')) {
  writeFileSync(file, text)
} else if (readFileSync(file, 'utf8') !== text) {
  console.error('packages/contract/src/hash.ts is of another contract.')
  console.error('If the contract was changed: npm run openapi:write, and commit the file.')
  process.exitCode = 1
}

function contractHash(): string {
  const shapes = Object.entries(contract).flatMap(([noun, { procedures }]) =>
    Object.entries(procedures).map(([verb, { type, input, output }]) => [
      `${noun}.${verb}`,
      type,
      shape(input, 'input'),
      shape(output, 'output'),
    ]),
  )
  return createHash('sha256').update(JSON.stringify(shapes)).digest('hex').slice(0, 16)
}

function shape(schema: z.ZodType, io: 'input' | 'output'): unknown {
  return z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      for (const word of WORDS) delete jsonSchema[word as keyof typeof jsonSchema]
    },
  })
}
