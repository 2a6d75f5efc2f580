import { createHash } from 'node:crypto'
import { z } from 'zod'

/**
 * A short mark of what a schema describes: another field, type or rule makes another mark, another description does not.
 * What a transform does cannot be seen.
 */
export function shapeMark(schema: z.ZodType): string {
  const sides = (['input', 'output'] as const).map((io) => z.toJSONSchema(schema, { io, unrepresentable: 'any' }))
  return createHash('sha256').update(JSON.stringify(sides, withoutProse)).digest('hex').slice(0, 6)
}

// A field may bear one of these names too: what stands there is a schema then.
const PROSE = new Set(['$schema', 'id', 'title', 'description'])

function withoutProse(key: string, value: unknown): unknown {
  if (PROSE.has(key) && typeof value === 'string') return undefined
  return key === 'examples' && Array.isArray(value) ? undefined : value
}
