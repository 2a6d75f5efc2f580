// Fails if src/hash.ts does not match the contract. With --write, updates the file.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'
import { contract } from '../src/index.ts'

// Descriptions and examples do not change what a client may send and expect.
const ANNOTATIONS = new Set(['description', 'examples', 'id', '$schema'])

const file = new URL('../src/hash.ts', import.meta.url)
const text = `/** A hash of all input and output schemas, without descriptions. \`npm run openapi:write\` updates it. */
export const CONTRACT_HASH = '${contractHash()}'
`

if (process.argv.includes('--write')) {
  writeFileSync(file, text)
} else if (readFileSync(file, 'utf8') !== text) {
  console.error('packages/contract/src/hash.ts does not match the contract.')
  console.error('If you changed the contract on purpose, run `npm run openapi:write` and commit the file.')
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
      for (const name of ANNOTATIONS) delete jsonSchema[name as keyof typeof jsonSchema]
    },
  })
}
