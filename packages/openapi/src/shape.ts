import { createHash } from 'node:crypto'
import { z } from 'zod'

// Without names and descriptions.
const metadata = z.registry()

/**
 * A short mark of what a schema describes: another field, type or rule makes another mark, another description does not.
 * What a transform does cannot be seen.
 */
export function shapeMark(schema: z.ZodType): string {
  const sides = (['input', 'output'] as const).map((io) =>
    z.toJSONSchema(schema, { io, metadata: metadata as typeof z.globalRegistry, unrepresentable: 'any' }),
  )
  return createHash('sha256').update(JSON.stringify(sides)).digest('hex').slice(0, 6)
}
