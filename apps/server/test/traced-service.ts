import { expect } from 'vitest'
import { postgresDatabase } from './database.ts'
import type { ReceivedSpan } from './otlp-receiver.ts'
import { spawnService, temporaryFolder } from './service-process.ts'

export const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
export const CALLER = '00f067aa0ba902b7'
export const LAMP = { name: 'Lamp', price: 2 }

/** Starts the service with `environment` on the engine of this run. */
export async function startService(environment: Record<string, string>) {
  const folder = await temporaryFolder()
  const database = await postgresDatabase()
  const service = spawnService(folder.path, { ...(database && { DATABASE_URL: database.url }), ...environment })
  const url = await service.url()
  return {
    ...service,
    url,
    folder: folder.path,
    system: database === undefined ? 'sqlite' : 'postgresql',
    /** Stops it like an operator. */
    end: async () => {
      service.signal('SIGTERM')
      expect(await service.exited).toEqual({ code: 0, stderr: '' })
    },
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]()
      database?.release()
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** The nested names of the spans under a parent, sorted by name. */
export function tree(spans: ReceivedSpan[], parentId: string): unknown[] {
  return spans
    .filter((span) => span.parentId === parentId)
    .map((span) => [span.name, ...tree(spans, span.id)])
    .toSorted()
}
