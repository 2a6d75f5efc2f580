import { createHash } from 'node:crypto'
import { z } from 'zod'

// An empty registry, so that names and descriptions do not affect the hash.
const metadata = z.registry()

/**
 * A short hash of a schema. It changes with a field, type or rule, but not with a description. The code of a transform
 * does not affect it.
 */
export function shapeHash(schema: z.ZodType): string {
  const sides = (['input', 'output'] as const).map((io) =>
    z.toJSONSchema(schema, { io, metadata: metadata as typeof z.globalRegistry, unrepresentable: 'any' }),
  )
  return createHash('sha256').update(JSON.stringify(sides)).digest('hex').slice(0, 6)
}
